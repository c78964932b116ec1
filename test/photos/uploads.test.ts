import t from 'tap'
import { type Person, people, signedIn, type TestGateway, testGateway, tinyPng } from '../support/gateway.ts'

/** An upload whose body is given out by hand. */
function upload(gateway: TestGateway, by: Person, n: number) {
  let isRead = false
  const { promise, resolve } = Promise.withResolvers<void>()
  const body = new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        isRead = true
        await promise
        controller.enqueue(Buffer.concat([tinyPng, Buffer.from(`${n}`)]))
        controller.close()
      },
    },
    { highWaterMark: 0 },
  )
  const headers = { ...signedIn(by), 'Content-Type': 'image/png' }
  const request = { method: 'POST', headers, body, duplex: 'half' } as RequestInit
  const answer = Promise.resolve(gateway.api.request('/api/whms/evidence/photos', request))
  return { isRead: () => isRead, send: resolve, status: answer.then((response) => response.status) }
}

const until = async (holds: () => boolean) => {
  while (!holds()) await new Promise((resolve) => setImmediate(resolve))
}

t.test('two photos of a person are received at once, and nobody waits for somebody else’s', async (t) => {
  const gateway = await testGateway()
  t.teardown(() => gateway.end())
  const [first, second, third] = [1, 2, 3].map((n) => upload(gateway, people.olga, n))
  if (!first || !second || !third) return
  await until(() => first.isRead() && second.isRead())
  const other = upload(gateway, people.sven, 4)
  await until(other.isRead)
  t.notOk(third.isRead(), 'the third waits with its bytes unread')
  other.send()
  t.equal(await other.status, 201)
  t.notOk(third.isRead(), 'also when others are done')
  second.send()
  t.equal(await second.status, 201)
  await until(third.isRead)
  for (const one of [first, third]) one.send()
  t.same(await Promise.all([first.status, third.status]), [201, 201])
})

t.test('eight are received in all, and the next in turn who has a place to spare comes next', async (t) => {
  const colleagues = [1, 2, 3, 4, 5].map((n) => ({ username: `colleague-${n}`, role: 'operator' as const }))
  const gateway = await testGateway({ people: colleagues })
  t.teardown(() => gateway.end())
  const all = [...colleagues, ...colleagues].map((by, n) => upload(gateway, by, n))
  const read = () => all.filter((one) => one.isRead()).length
  await until(() => read() === 8)
  for (let turn = 0; turn < 100; turn++) await new Promise((resolve) => setImmediate(resolve))
  t.equal(read(), 8)
  for (const one of all) one.send()
  for (const one of all) t.equal(await one.status, 201)
  t.equal(read(), 10)
})
