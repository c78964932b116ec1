/** The files of the package that dpkg and its readers read. */
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { root } from '../build/inputs.ts'
import type { Edition } from './man.ts'

/**
 * Returns name and address of the one who builds the package, to whom its users report a weakness: from the variables that Debian's
 * own tools read, else the author of the commit. Throws when neither is known.
 */
export function maintainer(env: NodeJS.ProcessEnv = process.env, author = authorOfCommit): string {
  const { DEBEMAIL: email, DEBFULLNAME: name } = env
  const found = email ? `${name || 'gatehouse maintainers'} <${email}>` : author()
  if (found === undefined)
    throw new Error('The package names no maintainer. Set DEBEMAIL, and DEBFULLNAME for the name.')
  return found
}

/** Undefined in a source tree without git. */
function authorOfCommit(): string | undefined {
  const { stdout = '' } = spawnSync('git', ['log', '-1', '--format=%an <%ae>'], { cwd: root, encoding: 'utf8' })
  return stdout.trim() || undefined
}

/** Returns the file `control` of the binary package. */
export function control(about: { edition: Edition; arch: string; installedKib: number }): string {
  return `Package: gatehouse
Version: ${about.edition.version}
Architecture: ${about.arch}
Maintainer: ${maintainer()}
Installed-Size: ${about.installedKib}
Pre-Depends: init-system-helpers (>= 1.54~)
Depends: ${depends.join(', ')}
Recommends: chrony | time-daemon
Suggests: smartmontools
Section: net
Priority: optional
Description: gateway box of a warehouse: placement ledger, cameras, evidence
 gatehouse runs on the box at the gate of a warehouse. It keeps an append-only
 ledger of the pallets in each slot, and records films when cameras see motion.
 It sends signed notifications to other systems, and proves to outsiders that
 nothing was changed later.
 .
 This package runs it as a service of systemd, with its own user.
`
}

/** Node's build needs the C and C++ libraries; the daemon starts ffmpeg; the scripts use the others. */
const depends = [
  'libc6 (>= 2.28)',
  'libstdc++6 (>= 9)',
  'libgcc-s1',
  'ffmpeg (>= 7:4.3)',
  'systemd (>= 247)',
  'debconf (>= 0.5) | debconf-2.0',
]

/** Returns the changelog in Debian's form: the newest release of CHANGELOG.md, or what is not released yet. */
export function debianChangelog({ version, dateMs }: Edition): string {
  const [, newest = ''] = readFileSync(join(root, 'CHANGELOG.md'), 'utf8').split(/^## /m)
  const points = newest.split(/^- /m).slice(1)
  const entries = points.map((point) => wrapped(point.split(/\n\s*\n/)[0] ?? ''))
  return `gatehouse (${version}) stable; urgency=medium\n\n${entries.join('\n')}\n\n -- ${maintainer()}  ${rfcDate(dateMs)}\n`
}

function wrapped(text: string): string {
  const lines: string[] = []
  for (const word of text.replaceAll('`', '').trim().split(/\s+/)) {
    const last = lines.at(-1)
    if (last !== undefined && `${last} ${word}`.length <= 78) lines[lines.length - 1] = `${last} ${word}`
    else lines.push(lines.length === 0 ? `  * ${word}` : `    ${word}`)
  }
  return lines.join('\n')
}

/** RFC 5322, as Debian's changelogs have it. */
const rfcDate = (ms: number): string => new Date(ms).toUTCString().replace('GMT', '+0000')

/** Returns Debian's file `copyright`: what the package carries, under which licences, and where their texts are. */
export function copyright(): string {
  return `Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/
Upstream-Name: gatehouse
Comment:
 The binary carries works of others. THIRD-PARTY-NOTICES.gz beside this file has
 the notice and the licence text of each.

Files: *
Copyright: the authors of gatehouse
License: Apache-2.0
Comment: The works of others in usr/bin/gatehouse are:
${worksOfOthers()}

License: Apache-2.0
 On Debian systems the text is in /usr/share/common-licenses/Apache-2.0.
`
}

/** The table at the beginning of THIRD-PARTY-NOTICES: each work with its licence. */
function worksOfOthers(): string {
  const table = thirdPartyNotices()
    .split('\n\n')
    .find((part) => part.startsWith('  '))
  if (table === undefined) throw new Error('THIRD-PARTY-NOTICES has no table of its works')
  return table
}

/** Returns the notices and licence texts of all that the binary carries. */
export function thirdPartyNotices(): string {
  return readFileSync(join(root, 'THIRD-PARTY-NOTICES'), 'utf8')
}
