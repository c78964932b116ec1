import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { build, type Plugin } from 'esbuild'
import { root } from './inputs.ts'

/** Packages of many small modules; the others are found in node_modules as from the sources. */
const takenIn = /^(kysely|zod|hono|@hono\/[^/]+|got|get-stream|@sindresorhus\/is|@asteasolutions\/[^/]+)($|\/)/

const leaveOthers: Plugin = {
  name: 'leave other packages where they are',
  setup: ({ onResolve }) => {
    onResolve({ filter: /^[^./]/ }, ({ path, kind, importer }) => {
      const isOurs =
        kind === 'entry-point' || path.startsWith('#') || takenIn.test(path) || takenIn.test(packageOf(importer))
      return isOurs ? undefined : { path, external: true }
    })
  },
}
const packageOf = (file: string) => file.split('node_modules/').at(-1) ?? ''

/**
 * Bundles the program once for the tests, which start it again and again: half of a start from the sources goes into finding
 * and linking its modules. Everything else is as from the sources: threads, assets and version. Returns its path, which
 * `scripts/gatehouse` takes from GATEHOUSE_PROGRAM.
 */
export async function bundleProgramUnderTest(): Promise<string> {
  const outfile = join(root, '.cache', 'tests', 'program.mjs')
  // The one file that asks where it is.
  const platform = join(root, 'src', 'platform')
  await build({
    entryPoints: [join(root, 'src', 'main.ts')],
    outfile,
    bundle: true,
    platform: 'node',
    target: 'node24',
    format: 'esm',
    plugins: [leaveOthers],
    define: {
      'import.meta.dirname': JSON.stringify(platform),
      'import.meta.url': JSON.stringify(pathToFileURL(join(platform, 'bundle.ts')).href),
    },
    logLevel: 'warning',
  })
  return outfile
}
