/**
 * `npm run client`: packs `@gatehouse/client` into dist/, with the types of `src/openapi.json`.
 */
import { execFileSync } from 'node:child_process'
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { buildSync } from 'esbuild'
import openapiTypes, { astToString } from 'openapi-typescript'
import { distFolder, say } from './build/inputs.ts'

const parts = 'scripts/client/package'

/** Makes the package and returns the path of its archive. */
export async function packClient(to: string): Promise<string> {
  const work = mkdtempSync(join(tmpdir(), 'gatehouse-client-'))
  try {
    const own = JSON.parse(readFileSync('package.json', 'utf8'))
    writeFileSync(join(work, 'package.json'), JSON.stringify(manifest(own), null, 2))
    for (const file of [`${parts}/README.md`, 'LICENSE']) copyFileSync(file, join(work, file.split('/').at(-1) ?? file))
    const description = JSON.parse(readFileSync('src/openapi.json', 'utf8'))
    writeFileSync(join(work, 'api.d.ts'), astToString(await openapiTypes(description)))
    writeFileSync(join(work, 'index.js'), indexCode)
    writeFileSync(join(work, 'index.d.ts'), indexTypes)
    buildSync({
      entryPoints: [`${parts}/gatehouse.ts`],
      outfile: join(work, 'gatehouse.js'),
      format: 'esm',
      target: 'es2022',
    })
    execFileSync(process.execPath, [
      'node_modules/typescript-native/bin/tsc',
      ...['--declaration', '--emitDeclarationOnly', '--target', 'es2023', '--module', 'nodenext', '--skipLibCheck'],
      ...['--ignoreConfig', '--types', 'node', '--rootDir', parts, '--outDir', work, `${parts}/gatehouse.ts`],
    ])
    mkdirSync(to, { recursive: true })
    const packed = execFileSync('npm', ['pack', '--json', '--pack-destination', resolve(to)], {
      cwd: work,
      encoding: 'utf8',
    })
    return join(to, JSON.parse(packed)[0].filename)
  } finally {
    rmSync(work, { recursive: true, force: true })
  }
}

function manifest(own: { version: string; license: string; devDependencies: Record<string, string> }) {
  return {
    name: '@gatehouse/client',
    version: own.version,
    description: 'Client for the API of a gatehouse gateway',
    license: own.license,
    type: 'module',
    engines: { node: '>=20' },
    sideEffects: false,
    exports: { '.': { types: './index.d.ts', default: './index.js' } },
    files: ['*.js', '*.d.ts'],
    dependencies: { 'openapi-fetch': own.devDependencies['openapi-fetch'] },
  }
}

const indexCode = `import { connect } from './gatehouse.js'
export { GatehouseError, isSigned, ok, rows } from './gatehouse.js'
export const gatehouse = (options) => connect(options)
`

const indexTypes = `import type { Client } from 'openapi-fetch'
import type { paths } from './api.js'
import type { GatehouseOptions } from './gatehouse.js'
export { GatehouseError, isSigned, ok, rows } from './gatehouse.js'
export type { GatehouseOptions, Refusal } from './gatehouse.js'
export type { components, operations, paths } from './api.js'
/** Connects to a gateway. */
export declare function gatehouse(options: GatehouseOptions): Client<paths>
`

if (import.meta.main) say(`${await packClient(distFolder)} made`)
