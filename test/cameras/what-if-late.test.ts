import { join } from 'node:path'
import t from 'tap'
import { furnish, people, testGateway } from '../support/gateway.ts'
import { busyCells, quietCells, storeCells } from '../support/stored-cells.ts'

t.test('motion that fires while other settings are tried counts as recorded, and is never added', async (t) => {
  const cameras = [{ id: 1, name: 'Dock 1', url: 'rtsp://127.0.0.1:9/main' }]
  const gateway = await testGateway({ config: { cameras } })
  t.teardown(() => gateway.end())
  await furnish(gateway, ['A-1'])
  const beginMs = gateway.clock.now() - 60_000
  const frames = [...Array(25).fill(quietCells), ...Array(10).fill(busyCells()), ...Array(100).fill(quietCells)]
  await storeCells(join(gateway.live.config.dataDir, 'scores'), 1, beginMs, frames)
  const motion = { cameraId: 1, detectionId: 1, motionAt: beginMs + 5000, score: 0.5, sceneChange: false, clip: true }
  const body = { from: new Date(beginMs).toISOString(), to: new Date(gateway.clock.now()).toISOString() }
  const ask = () => gateway.ask('POST', '/api/iot/cctv/1/what-if', { by: people.ada, body })
  const before = (await ask()).body
  t.match(before, { recorded: 0, added: 1, events: [{ detectionId: undefined }] }, 'its cells are stored')
  const asked = ask()
  gateway.cameras.heard({ type: 'motionFired', ...motion })
  const { body: found } = await asked
  t.match(found, { recorded: 1, added: 0, lost: { length: 0 } })
  t.same(
    found.events.map(({ detectionId }: { detectionId?: number }) => detectionId),
    [1],
  )
})
