/**
 * The programs that checks and tests run and npm does not bring: how each is found, and the Debian packages that have it. This is
 * the only list of them. A test names its own by `needs` (test/support/needs.ts).
 */
import { execFileSync, spawnSync } from 'node:child_process'
import { accessSync, constants, existsSync, readFileSync } from 'node:fs'
import { delimiter, dirname, join, resolve } from 'node:path'
import { postgresBin } from './bench/postgres.ts'

type Requirement = {
  /** None: no package can bring it. */
  readonly packages: readonly string[]
  /** Default: PATH has a program of this name. */
  readonly isThere?: () => boolean
}

/** Where Debian installs the browser, and the one without its windows. */
export const wholeBrowser = '/usr/bin/chromium'
export const browserShell = '/usr/bin/chromium-headless-shell'
/** Where Debian installs Apache's modules. */
export const apacheModules = '/usr/lib/apache2/modules'

const gstreamer = ['base', 'good', 'bad', 'ugly'].map((quality) => `gstreamer1.0-plugins-${quality}`)

const requirements = {
  // mod_dav of Debian's own build.
  age: { packages: ['age'] },
  apache2: { packages: ['apache2'], isThere: () => existsSync(join(apacheModules, 'mod_dav_fs.so')) },
  // The scale reader is written for the smallest awk.
  awk: { packages: ['mawk'] },
  bash: { packages: ['bash'] },
  cc: { packages: ['gcc', 'libc6-dev'] },
  certutil: { packages: ['libnss3-tools'] },
  chromium: { packages: ['chromium'], isThere: () => existsSync(wholeBrowser) },
  'chromium-headless-shell': {
    packages: ['chromium-headless-shell'],
    isThere: () => existsSync(browserShell) || existsSync(wholeBrowser),
  },
  curl: { packages: ['curl'] },
  dash: { packages: ['dash'] },
  dpkg: { packages: ['dpkg'] },
  ffmpeg: { packages: ['ffmpeg'] },
  // The bundled ffmpeg encodes H.265; one of the system may be built without.
  'ffmpeg with libx265': {
    packages: ['ffmpeg'],
    isThere: () => !inPath('ffmpeg') || outputOf('ffmpeg', ['-hide_banner', '-encoders']).includes(' libx265 '),
  },
  // Since 4.4 a filter gives B-frames of a camera their times.
  'ffmpeg with setts': {
    packages: ['ffmpeg'],
    isThere: () => outputOf('ffmpeg', ['-hide_banner', '-bsfs']).split('\n').includes('setts'),
  },
  git: { packages: ['git'] },
  // Other pythons than the system's do not see Debian's gi.
  "GStreamer's RTSP server": {
    packages: [
      ...['python3-gi', 'gir1.2-gst-rtsp-server-1.0', 'gir1.2-gstreamer-1.0', 'gstreamer1.0-rtsp'],
      ...['gstreamer1.0-tools', 'gstreamer1.0-libav', ...gstreamer],
    ],
    isThere: () =>
      succeeds('/usr/bin/python3', [
        '-c',
        'import gi; gi.require_version("GstRtspServer", "1.0"); from gi.repository import GstRtspServer',
      ]),
  },
  jq: { packages: ['jq'] },
  man: { packages: ['man-db', 'groff', 'bsdextrautils'], isThere: () => ['man', 'groff', 'col'].every(inPath) },
  openssl: { packages: ['openssl'] },
  postgresql: { packages: ['postgresql'], isThere: () => postgresBin() !== undefined },
  prometheus: { packages: ['prometheus'], isThere: () => ['prometheus', 'promtool'].every(inPath) },
  python3: { packages: ['python3'] },
  rclone: { packages: ['rclone'] },
  sabredav: {
    packages: ['php-cli', 'php-sabre-dav'],
    isThere: () => inPath('php') && existsSync('/usr/share/php/Sabre/DAV/Server.php'),
  },
  script: { packages: ['bsdutils'] },
  sqlite3: { packages: ['sqlite3'] },
  'systemd-analyze': {
    packages: ['systemd'],
    isThere: () => inPath('systemd-analyze') && /--offline/.test(outputOf('systemd-analyze', ['--help'])),
  },
  'the right to mount a tmpfs': {
    packages: [],
    isThere: () =>
      succeeds('sh', [
        '-c',
        'folder=$(mktemp -d); mount -t tmpfs -o size=64k tmpfs "$folder" && umount "$folder"; code=$?; rmdir "$folder"; exit $code',
      ]),
  },
  xxd: { packages: ['xxd'] },
} as const satisfies Record<string, Requirement>

export type Program = keyof typeof requirements

export const programs = Object.keys(requirements) as Program[]

/** The packages of the programs that this machine lacks, each once. */
export const missingPackages = (needed: readonly Program[]): string[] =>
  packagesOf(needed.filter((program) => !isThere(program)))

/** Why a test cannot run here, and whether packages would help; undefined when it can. */
export function whyNot(needed: readonly Program[]): { words: string; canInstall: boolean } | undefined {
  const missing = needed.filter((program) => !isThere(program))
  if (missing.length === 0) return undefined
  const packages = packagesOf(missing)
  const words = `needs ${missing.join(', ')}${packages.length === 0 ? '' : ` (Debian: ${packages.join(' ')})`}`
  return { words, canInstall: packages.length > 0 }
}

/** Installs Debian packages, or prints the command where this process may not. Returns whether they are installed. */
export const install = (packages: readonly string[]): boolean =>
  spawnSync(join(import.meta.dirname, 'apt-install'), packages, { stdio: ['ignore', 2, 2] }).status === 0

/** The programs that these test files name, in themselves or in the modules of test/ that they import. */
export function namedBy(files: readonly string[]): Program[] {
  const seen = new Set(files.map((file) => resolve(file)))
  const named = new Set<string>()
  for (const file of seen) {
    const text = readFileSync(file, 'utf8')
    for (const [, path = ''] of text.matchAll(/ from '(\.[^']+\.ts)'/g)) {
      const imported = resolve(dirname(file), path)
      // The text may be that of a generated file.
      if (imported.startsWith(resolve('test')) && existsSync(imported)) seen.add(imported)
    }
    for (const [, args = ''] of text.matchAll(/\b(?:needs|fileNeeds)\(([^)]+)\)/g))
      for (const [, single, double] of args.matchAll(/'([^']+)'|"([^"]+)"/g)) named.add(single ?? double ?? '')
  }
  return programs.filter((program) => named.has(program))
}

function isThere(program: Program): boolean {
  const { isThere: isFound = () => inPath(program) }: Requirement = requirements[program]
  return isFound()
}

const packagesOf = (needed: readonly Program[]): string[] => [
  ...new Set(needed.flatMap((program) => requirements[program].packages)),
]

function inPath(program: string): boolean {
  // A user's PATH lacks the folders of servers.
  const folders = [...(process.env['PATH'] ?? '').split(delimiter), '/usr/sbin']
  return folders.some((folder) => isProgram(join(folder, program)))
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return true
  } catch {
    return false
  }
}

function succeeds(command: string, args: readonly string[]): boolean {
  return spawnSync(command, args, { stdio: 'ignore' }).status === 0
}

function outputOf(command: string, args: readonly string[]): string {
  try {
    return execFileSync(command, args, { encoding: 'utf8', stdio: 'pipe' })
  } catch {
    return ''
  }
}
