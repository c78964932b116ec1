import t from 'tap'
import { furnish, people, testGateway, tinyPng } from '../support/gateway.ts'

const by = people.ada
const path = '/api/whms/warehouses/1/floor-plan-image'
const svg = (inside = '', attributes = 'viewBox="0 0 200 100"') =>
  `<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" ${attributes}><rect width="9" height="9"/>${inside}</svg>`

/** A hall of two slots, 20 m wide and 10 m deep. */
async function twoSlots(t: { teardown(end: () => void): void }) {
  const gateway = await testGateway()
  t.teardown(() => gateway.end())
  const around = (x: number) => [
    { x, y: 10 },
    { x: x + 10, y: 10 },
    { x: x + 10, y: 20 },
  ]
  await furnish(gateway, ['A'], { floor_plan_polygon: around(0) })
  await furnish(gateway, ['B'], { floor_plan_polygon: around(10) })
  return gateway
}

t.test('a picture of a plan is placed around its slots, and those who see the hall see it', async (t) => {
  const gateway = await twoSlots(t)
  const hall = async () => (await gateway.ask('GET', '/api/whms/warehouses/1', { by: people.vera })).body
  t.equal((await hall()).floorPlanImage, null)
  const body = { floorPlanImage: { place: { x: 1 } } }
  t.match(await gateway.ask('PUT', '/api/whms/warehouses/1', { by, body }), { status: 400 })
  t.match(await gateway.ask('DELETE', path, { by }), { status: 404 })
  // Half as high as wide: 20 m across the slots, which are 10 m deep.
  const made = await gateway.ask('PUT', path, { by, bytes: svg(), headers: { 'Content-Type': 'text/plain' } })
  t.match(made, {
    status: 200,
    body: {
      version: 2,
      floorPlanImage: {
        mediaType: 'image/svg+xml',
        place: { x: 0, y: 10, width: 20, rotation: 0, opacity: 0.6 },
      },
    },
  })
  const { sha256 } = made.body.floorPlanImage
  const file = await gateway.ask('GET', `${path}/${sha256}`, { by: people.vera })
  t.match(file, { status: 200, text: svg() })
  t.match(file.headers.get('content-security-policy'), /sandbox/)
  t.equal((await gateway.ask('GET', `${path}/${sha256}`)).status, 401)
})

t.test('a picture of a plan is moved, replaced in its place, removed, each in the audit', async (t) => {
  const gateway = await twoSlots(t)
  const { sha256 } = (await gateway.ask('PUT', path, { by, bytes: svg() })).body.floorPlanImage
  const place = { x: -3, rotation: 90, opacity: 0.3 }
  const moved = await gateway.ask('PUT', '/api/whms/warehouses/1', {
    ...{ by, body: { floorPlanImage: { place } } },
    headers: { 'If-Match': '2' },
  })
  t.match(moved, { status: 200, body: { version: 3, floorPlanImage: { place: { ...place, y: 10, width: 20 } } } })
  const again = await gateway.ask('PUT', '/api/whms/warehouses/1', { by, body: { floorPlanImage: { place } } })
  t.equal(again.body.version, 3, 'nothing is new in that')
  for (const wrong of [{ place: { widht: 3 } }, { place: { x: null } }])
    t.match(await gateway.ask('PUT', '/api/whms/warehouses/1', { by, body: { floorPlanImage: wrong } }), {
      status: 400,
    })
  t.match(await gateway.ask('PUT', path, { by, bytes: tinyPng, headers: { 'If-Match': '1' } }), { status: 412 })
  const other = await gateway.ask('PUT', path, { by, bytes: tinyPng })
  t.match(other.body.floorPlanImage, {
    mediaType: 'image/png',
    widthPx: 1,
    heightPx: 1,
    place: { ...place, width: 20 },
  })
  t.equal((await gateway.ask('GET', `${path}/${sha256}`, { by })).status, 404, 'the one before is gone')
  const restarted = await gateway.restart()
  const kept = await restarted.ask('GET', `${path}/${other.body.floorPlanImage.sha256}`, { by })
  t.ok(kept.bytes.equals(tinyPng))
  t.equal((await restarted.ask('DELETE', path, { by })).status, 204)
  t.equal((await restarted.ask('GET', '/api/whms/warehouses', { by })).body.data[0].floorPlanImage, null)
  const trail = await restarted.ask('GET', '/api/governance/audit?entity=warehouse&entity_id=1', { by })
  t.strictSame(
    trail.body.data.map((row: { action: string }) => row.action),
    [
      'warehouse.plan_image_removed',
      'warehouse.plan_image_stored',
      'warehouse.updated',
      'warehouse.plan_image_stored',
      'warehouse.created',
    ],
  )
  t.match(trail.body.data[2].changes, { floorPlanImage: { place } })
})

t.test('the answer of a GET with another place moves the picture, and null in its place removes it', async (t) => {
  const gateway = await twoSlots(t)
  const hall = (await gateway.ask('PUT', path, { by, bytes: svg() })).body
  const put = (floorPlanImage: unknown) =>
    gateway.ask('PUT', '/api/whms/warehouses/1', { by, body: { ...hall, floorPlanImage } })
  const place = { ...hall.floorPlanImage.place, x: 7 }
  t.match(await put({ ...hall.floorPlanImage, place }), {
    status: 200,
    body: { version: 3, floorPlanImage: { place } },
  })
  t.match(await put(null), { status: 200, body: { version: 4, floorPlanImage: null } })
  t.equal((await gateway.ask('GET', `${path}/${hall.floorPlanImage.sha256}`, { by })).status, 404)
  t.match(await put(null), { status: 200, body: { version: 4 } }, 'nothing is new in that')
})

t.test('a picture of a hall shows itself and does nothing else', async (t) => {
  const gateway = await testGateway()
  t.teardown(() => gateway.end())
  await furnish(gateway, ['A'])
  const put = (bytes: Uint8Array | string) => gateway.ask('PUT', path, { by, bytes })
  const pixel = `data:image/png;base64,${tinyPng.toString('base64')}`
  for (const fine of [
    svg(`<image href="${pixel}"/><style>.a{fill:url(#g)}</style><use xlink:href="#g"/>`),
    `<?xml version="1.0"?><!DOCTYPE svg PUBLIC "-//W3C//DTD SVG 1.1//EN" "http://www.w3.org/Graphics/SVG/1.1/DTD/svg11.dtd">${svg()}`,
    svg('', 'width="210mm" height="297mm"'),
  ])
    t.match(await put(fine), { status: 200 }, fine.slice(0, 80))
  for (const [bad, why] of [
    [svg('<script>alert(1)</script>'), /<script>/],
    [svg('<g onload="alert(1)"/>'), /onload/],
    [svg('<foreignObject><p/></foreignObject>'), /foreignObject/],
    [svg('<h:script xmlns:h="http://www.w3.org/1999/xhtml">alert(1)</h:script>'), /script/],
    [svg('<image href="https://elsewhere.test/a.png"/>'), /loads/],
    [svg('<use xlink:href="other.svg#a"/>'), /loads/],
    [svg('<image href="data:image/svg+xml;base64,PHN2Zy8+"/>'), /loads/],
    [svg('<style>@import "a.css";</style>'), /styles/],
    [svg('<style><![CDATA[.a{fill:u\\72l(//elsewhere.test)}]]></style>'), /styles/],
    [svg('<rect style="fill:url(https://elsewhere.test)"/>'), /styles/],
    [svg('<set attributeName="href" to="javascript:alert(1)"/>'), /<set>/],
    [`<!DOCTYPE svg [<!ATTLIST svg onload CDATA "alert(1)">]>${svg()}`, /DOCTYPE/],
    [`<?xml-stylesheet href="a.css"?>${svg()}`, /style sheet/],
    [svg('', ''), /how large/],
    [svg('<g>'), /not XML/],
    [`${svg().slice(0, -6)}${'<g>'.repeat(60_000)}${'</g>'.repeat(60_000)}</svg>`, /nested/],
  ] as const) {
    const answer = await put(bad)
    t.match(answer, { status: 415, body: { error: { details: why } } }, bad.slice(0, 160))
  }
  t.match(await put('hello'), { status: 415 })
  t.match(await put(Buffer.alloc(0)), { status: 415 })
  t.match(await put(tinyPng.subarray(0, -12)), {
    status: 415,
    body: { error: { message: 'The picture is not whole' } },
  })
  t.match(await put(Buffer.concat([tinyPng, Buffer.alloc(8 * 1024 * 1024)])), { status: 413 })
  t.match(await put(svg(`<!-- ${'x'.repeat(1024 * 1024)} -->`)), { status: 413 })
})

t.test('who sees a hall sees its picture, and admins alone change it', async (t) => {
  const gateway = await testGateway({ config: { warehouses: [{ id: 1, viewers: ['olga'] }] } })
  t.teardown(() => gateway.end())
  await furnish(gateway, ['A'])
  const { sha256 } = (await gateway.ask('PUT', path, { by, bytes: tinyPng })).body.floorPlanImage
  const status = async (person: (typeof people)[keyof typeof people]) =>
    (await gateway.ask('GET', `${path}/${sha256}`, { by: person })).status
  t.equal(await status(people.olga), 200)
  for (const person of [people.vera, people.sven]) t.equal(await status(person), 404, 'a hall of others')
  for (const person of [people.vera, people.olga, people.sven]) {
    const put = await gateway.ask('PUT', path, { by: person, bytes: svg() })
    t.match(put, { status: 403 }, `${person.role} may not store a picture`)
    t.match(await gateway.ask('DELETE', path, { by: person }), { status: 403 }, `${person.role} may not remove one`)
  }
  t.equal(await status(people.olga), 200)
})

t.test('a zone has an outline when one is drawn, and none when it is removed', async (t) => {
  const gateway = await testGateway()
  t.teardown(() => gateway.end())
  await furnish(gateway, ['A'])
  const square = [
    { x: 0, y: 0 },
    { x: 8, y: 0 },
    { x: 8, y: 6 },
    { x: 0, y: 6 },
  ]
  const zone = async () => (await gateway.ask('GET', '/api/whms/zones/1', { by: people.vera })).body
  t.equal((await zone()).floor_plan_polygon, null)
  const put = (floor_plan_polygon: unknown) =>
    gateway.ask('PUT', '/api/whms/zones/1', { by, body: { floor_plan_polygon } })
  t.match(await put([...square, square[0]]), { status: 200, body: { version: 2, floor_plan_polygon: square } })
  t.match(await put(square), { body: { version: 2 } }, 'nothing is new in that')
  t.match(await put(null), { body: { version: 3, floor_plan_polygon: null } }, 'null clears it')
  t.match(await put(square), { body: { version: 4, floor_plan_polygon: square } })
  for (const bad of [square.slice(0, 1), square.slice(0, 2), [square[0], square[2], square[1], square[3]], [{ x: 1 }]])
    t.match(await put(bad), { status: 400, body: { error: { code: 'VALIDATION_ERROR' } } }, JSON.stringify(bad))
  t.strictSame((await zone()).floor_plan_polygon, square)
  t.match(await put([]), { status: 200, body: { version: 5, floor_plan_polygon: null } })
  const made = { name: 'Drawn', zone_type: 'staging', warehouseId: 1, floor_plan_polygon: square }
  t.match(await gateway.ask('POST', '/api/whms/zones', { by, body: made }), { status: 201, body: made })
  const trail = await gateway.ask('GET', '/api/governance/audit?entity=zone&entity_id=1', { by })
  t.strictSame(
    trail.body.data.map(({ changes }: { changes?: { polygon?: string } }) => changes?.polygon),
    ['removed', 'changed', 'removed', 'changed', undefined],
  )
})
