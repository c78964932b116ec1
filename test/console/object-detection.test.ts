import { symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { people, testGateway } from '../support/gateway.ts'
import { brightModel } from '../support/tiny-model.ts'

const path = '/api/console/object-detection'
const off = { enabled: false, confidenceThreshold: 0.5, maxDetections: 20, fps: 5, model: null, problem: null }

async function gatewayWith(t: Test, objectDetection: Record<string, unknown>) {
  const gateway = await testGateway({ config: { console: { objectDetection } } })
  t.teardown(() => gateway.end())
  return gateway
}

t.test('the object detection is off, with the settings of the interface', async (t) => {
  const gateway = await gatewayWith(t, {})
  t.strictSame((await gateway.ask('GET', path, { by: people.vera })).body, { success: true, ...off })
  t.equal((await gateway.ask('GET', path)).status, 401)
  t.equal((await gateway.ask('GET', `${path}/models/${'0'.repeat(64)}`)).status, 401)
})

t.test('a viewer gets the model that the admin put there, as long as it is that one', async (t) => {
  const folder = t.testdir({})
  const file = join(folder, 'found.onnx')
  const bytes = brightModel({ names: `{0: 'bright'}` })
  writeFileSync(file, bytes)
  symlinkSync(file, join(folder, 'model.onnx'))
  const set = {
    enabled: true,
    modelFile: join(folder, 'model.onnx'),
    confidenceThreshold: 0.7,
    maxDetections: 3,
    fps: 2,
  }
  const gateway = await gatewayWith(t, set)
  const { body } = await gateway.ask('GET', path, { by: people.vera })
  t.match(body, {
    ...{ enabled: true, confidenceThreshold: 0.7, maxDetections: 3, fps: 2, problem: null },
    model: { sizeBytes: bytes.length, width: 64, height: 64, layout: 'columns', labels: ['bright'] },
  })
  t.notOk('path' in body.model, 'where it is on the box is nobody’s business')
  const model = await gateway.ask('GET', `${path}/models/${body.model.sha256}`, { by: people.vera })
  t.equal(model.status, 200)
  t.ok(model.bytes.equals(bytes), 'byte by byte')
  t.match(model.headers.get('cache-control'), /private, max-age=\d+, immutable/)

  writeFileSync(join(folder, 'model.txt'), 'light\n')
  t.strictSame(
    (await gateway.ask('GET', path, { by: people.vera })).body.model.labels,
    ['light'],
    'the file of labels wins',
  )
  writeFileSync(file, brightModel({ output: [1, 300, 6] }))
  const next = (await gateway.ask('GET', path, { by: people.vera })).body
  t.equal(next.model.layout, 'rows', 'a new file counts at once')
  t.match(await gateway.ask('GET', `${path}/models/${body.model.sha256}`, { by: people.vera }), {
    status: 404,
    body: { error: { code: 'NOT_FOUND' } },
  })
})

t.test('a model that cannot be used is named with the reason, and nothing is given out', async (t) => {
  const file = join(t.testdir({ 'bad.onnx': 'nothing' }), 'bad.onnx')
  const bad = await gatewayWith(t, { enabled: true, modelFile: file })
  t.match((await bad.ask('GET', path, { by: people.vera })).body, {
    model: null,
    problem: 'The file is no ONNX model, or not all of one.',
  })
  const none = await gatewayWith(t, { enabled: true, modelFile: `${file}.none` })
  t.match((await none.ask('GET', path, { by: people.vera })).body, { model: null, problem: 'There is no such file.' })
  const switchedOff = await gatewayWith(t, { enabled: false, modelFile: file })
  t.strictSame((await switchedOff.ask('GET', path, { by: people.vera })).body, { success: true, ...off })
})
