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

t.test('who may see a camera and not its warehouse sees nothing of where it looks', async (t) => {
  const camera = {
    url: 'rtsp://127.0.0.1:9/main',
    viewers: ['vera', 'olga'],
    slots: ['A-01'],
    zoneId: 3,
    enabled: false,
  }
  const cameras = [
    { ...camera, id: 1 },
    { ...camera, id: 2, warehouseId: 2 },
  ]
  const gateway = await testGateway({ config: { cameras, warehouses: [{ id: 2, viewers: ['olga'] }] } })
  t.teardown(() => gateway.end())
  const seenBy = async (by: (typeof people)[keyof typeof people]) =>
    (await gateway.ask('GET', '/api/iot/cctv', { by })).body.data
  const place = { zoneId: 3, slots: ['A-01'] }
  t.match(await seenBy(people.olga), [
    { warehouseId: 1, ...place },
    { warehouseId: 2, ...place },
  ])
  t.match(await seenBy(people.vera), [
    { id: 1, warehouseId: 1, ...place },
    { id: 2, warehouseId: null, zoneId: null, slots: { length: 0 } },
  ])
})
