import { globSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { type BuildOptions, build } from 'esbuild'
import { workers } from '../../src/platform/bundle.ts'
import { root } from './inputs.ts'

/** Packages with an addon or a program beside their code; the one for PostgreSQL is never there. */
const leftWhereTheyAre = ['better-sqlite3', '@koromix/*', '@ffmpeg-installer/*', 'pg-native']

const outdir = join(root, '.cache', 'tests')
const platform = join(root, 'src', 'platform')

const options: BuildOptions = {
  outdir,
  // Not ES modules: those load more of Node at each start.
  outExtension: { '.js': '.cjs' },
  bundle: true,
  platform: 'node',
  target: 'node24',
  format: 'cjs',
  external: leftWhereTheyAre,
  // `platform/bundle.ts` is the one file that asks where it is.
  define: {
    'import.meta.dirname': JSON.stringify(platform),
    'import.meta.url': JSON.stringify(pathToFileURL(join(platform, 'bundle.ts')).href),
  },
  logLevel: 'warning',
}

/**
 * Bundles the program and its threads once for the tests, which start them again and again. From the sources, most of a start
 * goes into finding and linking modules. Assets and version are as from the sources. Returns the path of the program, which
 * `scripts/gatehouse` takes from GATEHOUSE_PROGRAM. The threads are beside it.
 */
export async function bundleProgramUnderTest(): Promise<string> {
  await build({
    ...options,
    // A start reads all of it.
    minifyWhitespace: true,
    entryPoints: Object.fromEntries([
      ['program', join(root, 'src', 'main.ts')],
      ...workers.map((name) => [`${name}-worker`, join(root, 'src', 'app', 'threads', `${name}-worker.ts`)]),
    ]),
  })
  return join(outdir, 'program.cjs')
}

/**
 * Links all sources in one file for the tests that call them. Returns its path, which `linked-sources.ts` takes from
 * GATEHOUSE_SOURCES. Leaves out the pages, which are for browsers, and the entry of the binary.
 */
export async function linkSources(): Promise<string> {
  const files = globSync('src/**/*.ts', { cwd: root, exclude: ['src/console/page/**', 'src/binary.ts'] })
  const entries = files.map((file) => `${JSON.stringify(file)}: () => require(${JSON.stringify(`./${file}`)})`)
  await build({
    ...options,
    stdin: { contents: `module.exports = {${entries.join(',\n')}}`, resolveDir: root, sourcefile: 'sources.cjs' },
    entryNames: 'sources',
  })
  return join(outdir, 'sources.cjs')
}
