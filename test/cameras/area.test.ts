import t from 'tap'
import { people, testGateway } from '../support/gateway.ts'

const corner = [
  { x: 0, y: 0 },
  { x: 0.5, y: 0 },
  { x: 0, y: 0.5 },
]

t.test('who may control a camera sees where motion does not count; who only looks at it does not', async (t) => {
  const motion = { masks: [corner], zones: [] }
  const cameras = [
    { id: 1, url: 'rtsp://127.0.0.1:9/main', owner: 'olga', viewers: ['vera', 'sven'], enabled: false, motion },
  ]
  const gateway = await testGateway({ config: { cameras } })
  t.teardown(() => gateway.end())
  const areaFor = async (by: (typeof people)[keyof typeof people]) =>
    (await gateway.ask('GET', '/api/iot/cctv', { by })).body.data[0].motion.area
  const area = { masks: [corner], zones: [] }
  t.same(await areaFor(people.ada), area)
  t.same(await areaFor(people.sven), area, 'a supervisor who sees it')
  t.same(await areaFor(people.olga), area, 'its owner')
  t.equal(await areaFor(people.vera), null, 'a viewer')
})
