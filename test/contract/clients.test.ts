import { execFile } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import openapiTypes, { astToString } from 'openapi-typescript'
import t, { type Test } from 'tap'
import { HttpListener } from '../../src/http/index.ts'
import { descriptionOf } from '../support/description.ts'
import { furnish, people, signedIn, type TestGateway, testGateway } from '../support/gateway.ts'

const exec = promisify(execFile)

/** Runs a program without the test runner's NODE_OPTIONS. */
const run = (program: string, args: string[]) =>
  exec(process.execPath, [program, ...args], { env: { ...process.env, NODE_OPTIONS: '' } })

/** Program of an integrator who uses the client of openapi-typescript. */
const byTypes = `
import createClient from 'openapi-fetch'
import type { components, operations, paths } from './schema.ts'

const [baseUrl = '', headers = '{}'] = process.argv.slice(2)
const client = createClient<paths>({ baseUrl, headers: JSON.parse(headers) })
const sent: components['schemas']['NewPlacementEvent'] = {
  event_type: 'PLACED', slot_code: 'A-01', asset_barcode: 'P-1', photo_url: 'https://photos.example/1.jpg',
}
const recorded = await client.POST('/api/whms/events', { params: { header: { 'idempotency-key': 'k-1' } }, body: sent })
if (!recorded.data) throw new Error(JSON.stringify(recorded.error))
const id: number = recorded.data.id
const ignored: string[] | undefined = recorded.data.ignoredFields
// @ts-expect-error there is no such event
const wrong: components['schemas']['NewPlacementEvent'] = { ...sent, event_type: 'MOVED' }
const query: operations['listEvents']['parameters']['query'] = { slot_code: 'A-01', limit: 1 }
const { data: events } = await client.GET('/api/whms/events', { params: { query } })
const slot = await client.GET('/api/whms/slots/{id}', { params: { path: { id: 'A-01' } } })
const missing = await client.GET('/api/whms/slots/{id}', { params: { path: { id: 'nowhere' } } })
const code: components['schemas']['Error']['error']['code'] | undefined = missing.error?.error.code
console.log(JSON.stringify({
  id, ignored, wrong: wrong.event_type, total: events?.pagination.total, occupant: slot.data?.assetBarcode, code,
}))
`

/** The same against the functions that @hey-api/openapi-ts makes of OpenAPI 3.0. */
const byFunctions = `
import { client } from './client/client.gen.ts'
import { getSlot, listEvents, recordEvent } from './client/sdk.gen.ts'
import type { NewPlacementEvent } from './client/types.gen.ts'

const [baseUrl = '', headers = '{}'] = process.argv.slice(2)
client.setConfig({ baseUrl, headers: JSON.parse(headers) })
const body: NewPlacementEvent = {
  event_type: 'PLACED', slot_code: 'A-01', asset_barcode: 'P-1', photo_url: 'https://photos.example/1.jpg',
}
const recorded = await recordEvent({ body, headers: { 'idempotency-key': 'k-1' } })
if (!recorded.data) throw new Error(JSON.stringify(recorded.error))
const id: number = recorded.data.id
const ignored: string[] | undefined = recorded.data.ignoredFields
// @ts-expect-error there is no such event
const wrong: NewPlacementEvent = { ...body, event_type: 'MOVED' }
const { data: events } = await listEvents({ query: { slot_code: 'A-01', limit: 1 } })
const slot = await getSlot({ path: { id: 'A-01' } })
const missing = await getSlot({ path: { id: 'nowhere' } })
const code: string | undefined = missing.error?.error.code
console.log(JSON.stringify({
  id, ignored, wrong: wrong.event_type, total: events?.pagination.total, occupant: slot.data?.assetBarcode, code,
}))
`

const wanted = { id: 1, wrong: 'MOVED', total: 1, occupant: 'P-1', code: 'NOT_FOUND' }

t.test('a client that openapi-typescript makes of OpenAPI 3.1 compiles and works', async (t) => {
  const { gateway, folder, use } = await workshop(t)
  const types = await openapiTypes(JSON.stringify(await descriptionOf(gateway, '3.1')))
  writeFileSync(join(folder, 'schema.ts'), astToString(types))
  t.strictSame(await use(byTypes), wanted)
})

t.test('a client that a second generator makes of OpenAPI 3.0 compiles and works', async (t) => {
  const { gateway, folder, use } = await workshop(t)
  const { createClient } = await import('@hey-api/openapi-ts')
  await createClient({
    input: await descriptionOf(gateway, '3.0'),
    output: { path: join(folder, 'client'), importFileExtension: '.ts' },
    plugins: ['@hey-api/typescript', '@hey-api/sdk', '@hey-api/client-fetch'],
    logs: { level: 'silent' },
  } as Parameters<typeof createClient>[0])
  t.strictSame(await use(byFunctions), wanted)
})

/** A gateway to talk to, and a folder in which a program against it is checked by the compiler and run. */
async function workshop(
  t: Test,
): Promise<{ gateway: TestGateway; folder: string; use: (program: string) => Promise<unknown> }> {
  const gateway = await testGateway()
  await furnish(gateway, ['A-01'])
  const listener = new HttpListener({ host: '127.0.0.1', port: 0 }, gateway.api)
  const port = await listener.start()
  // Inside the tree, where the packages are found.
  mkdirSync('.cache', { recursive: true })
  const folder = mkdtempSync(join('.cache', 'client-'))
  t.teardown(async () => {
    await listener.stop()
    gateway.end()
    rmSync(folder, { recursive: true, force: true })
  })
  const use = async (program: string) => {
    writeFileSync(join(folder, 'use.ts'), program)
    writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(settings))
    await compile(folder)
    const headers = JSON.stringify(signedIn(people.ada))
    const { stdout } = await run(join(folder, 'use.ts'), [`http://127.0.0.1:${port}`, headers])
    return JSON.parse(stdout)
  }
  return { gateway, folder, use }
}

/** Throws with the output of the compiler. */
async function compile(folder: string): Promise<void> {
  const compiler = 'node_modules/typescript/bin/tsc'
  await run(compiler, ['-p', folder, '--noEmit']).catch((error: { stdout?: string }) => {
    throw new Error(error.stdout || String(error))
  })
}

const settings = {
  compilerOptions: {
    target: 'es2024',
    lib: ['es2024', 'dom', 'dom.iterable'],
    module: 'nodenext',
    moduleResolution: 'nodenext',
    types: ['node'],
    strict: true,
    allowImportingTsExtensions: true,
    skipLibCheck: true,
    noEmit: true,
  },
  include: ['.'],
}
