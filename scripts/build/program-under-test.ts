import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { build } from 'esbuild'
import { workers } from '../../src/platform/bundle.ts'
import { root } from './inputs.ts'

/** Packages with an addon or a program beside their code; the one for PostgreSQL is never there. */
const leftWhereTheyAre = ['better-sqlite3', '@koromix/*', '@ffmpeg-installer/*', 'pg-native']

/**
 * Bundles the program and its threads once for the tests, which start them again and again. From the sources, most of a start
 * goes into finding and linking modules. Assets and version are as from the sources. Returns the path of the program, which
 * `scripts/gatehouse` takes from GATEHOUSE_PROGRAM. The threads are beside it.
 */
export async function bundleProgramUnderTest(): Promise<string> {
  const outdir = join(root, '.cache', 'tests')
  const platform = join(root, 'src', 'platform')
  await build({
    entryPoints: Object.fromEntries([
      ['program', join(root, 'src', 'main.ts')],
      ...workers.map((name) => [`${name}-worker`, join(root, 'src', 'app', 'threads', `${name}-worker.ts`)]),
    ]),
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
  })
  return join(outdir, 'program.cjs')
}
