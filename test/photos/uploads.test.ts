import { createHash, randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { HttpListener } from '../../src/http/index.ts'
import { type Person, people, signedIn, type TestGateway, testGateway, tinyPng } from '../support/gateway.ts'
import { jpeg } from '../support/photo.ts'
import { onSmallDisk, smallDisk } from '../support/small-disk.ts'

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

const photosPath = '/api/whms/evidence/photos'
const partsIn = ({ folder }: TestGateway) =>
  filesBelow(join(folder, 'state', 'photos')).filter((file) => file.endsWith('.part'))
const filesBelow = (folder: string) =>
  existsSync(folder)
    ? readdirSync(folder, { recursive: true, withFileTypes: true })
        .filter((entry) => entry.isFile())
        .map((entry) => join(entry.parentPath, entry.name))
    : []
const sizeOf = (file: string | undefined) => (file === undefined ? undefined : statSync(file).size)
const bigJpeg = (bytes: number) => {
  const [begin, end] = [jpeg().subarray(0, -2), jpeg().subarray(-2)]
  return Buffer.concat([begin, randomBytes(bytes - begin.length - end.length), end])
}

/** An upload over a real connection that stops after what it is given. `ended`: the gateway is done with it. */
async function sending(t: Test, gateway: TestGateway, headers: string, bytes: Uint8Array) {
  const { promise: ended, resolve } = Promise.withResolvers<void>()
  const fetch: typeof gateway.api.fetch = async (...request) => {
    try {
      return await gateway.api.fetch(...request)
    } finally {
      resolve()
    }
  }
  const listener = new HttpListener({ host: '127.0.0.1', port: 0 }, { fetch })
  const port = await listener.start()
  t.teardown(() => listener.stop())
  const who = Object.entries(signedIn(people.olga)).map(([name, value]) => `${name}: ${value}\r\n`)
  const socket = connect(port, '127.0.0.1').on('error', () => undefined)
  t.teardown(() => socket.destroy())
  socket.write(`POST ${photosPath} HTTP/1.1\r\nHost: 127.0.0.1\r\n${who.join('')}${headers}\r\n`)
  socket.write(bytes)
  return { socket, ended }
}

/** An upload whose body is given out when it is asked for. `asked` is called before each part, and once more for the end. */
async function givenOut(gateway: TestGateway, parts: readonly Uint8Array[], asked: () => void) {
  const left = [...parts]
  const pull = (controller: ReadableStreamDefaultController<Uint8Array>) => {
    asked()
    const part = left.shift()
    if (part) controller.enqueue(part)
    else controller.close()
  }
  const body = new ReadableStream<Uint8Array>({ pull }, { highWaterMark: 0 })
  const headers = { ...signedIn(people.olga), 'Content-Type': 'image/jpeg' }
  return gateway.api.request(photosPath, { method: 'POST', headers, body, duplex: 'half' } as RequestInit)
}

const chunk = (bytes: Uint8Array) =>
  Buffer.concat([Buffer.from(`${bytes.length.toString(16)}\r\n`), bytes, Buffer.from('\r\n')])

t.test('a photo is on disk as far as it has come, and under its hash when it is whole', async (t) => {
  const gateway = await testGateway()
  t.teardown(() => gateway.end())
  const photo = bigJpeg(3_000_000)
  const parts = [0, 1, 2].map((n) => photo.subarray(n * 1_000_000, (n + 1) * 1_000_000))
  const onDisk: (number | undefined)[] = []
  const answer = await givenOut(gateway, parts, () => onDisk.push(sizeOf(partsIn(gateway)[0])))
  t.strictSame(onDisk, [undefined, 1_000_000, 2_000_000, 3_000_000], 'whenever more of it is asked for')
  const sha256 = createHash('sha256').update(photo).digest('hex')
  t.match([answer.status, await answer.json()], [201, { sha256 }])
  t.same(filesBelow(join(gateway.folder, 'state', 'photos')), [
    join(gateway.folder, 'state', 'photos', sha256.slice(0, 2), `${sha256}.jpg`),
  ])
  t.same(readFileSync(filesBelow(join(gateway.folder, 'state', 'photos'))[0] ?? ''), photo)
})

t.test('a connection that is lost leaves nothing of its photo', async (t) => {
  const gateway = await testGateway()
  t.teardown(() => gateway.end())
  const { socket, ended } = await sending(t, gateway, 'Content-Length: 3000000\r\n', bigJpeg(1_000_000))
  await until(() => sizeOf(partsIn(gateway)[0]) === 1_000_000)
  socket.destroy()
  await ended
  t.same(filesBelow(join(gateway.folder, 'state', 'photos')), [])
})

t.test('a photo that goes on beyond 12 MiB is refused while it comes, and nothing of it is kept', async (t) => {
  const gateway = await testGateway()
  t.teardown(() => gateway.end())
  const long = chunk(bigJpeg(12 * 1024 * 1024 + 1))
  const { socket } = await sending(t, gateway, 'Transfer-Encoding: chunked\r\n', long)
  const [answer] = (await once(socket, 'data')) as [Buffer]
  t.match(answer.toString(), /^HTTP\/1.1 413 [\s\S]*"BODY_TOO_LARGE"/)
  t.same(filesBelow(join(gateway.folder, 'state', 'photos')), [])
})

t.test('what begins as no picture is refused at its first bytes', async (t) => {
  const gateway = await testGateway()
  t.teardown(() => gateway.end())
  let asked = 0
  const answer = await givenOut(gateway, [Buffer.from('%PDF-1.7 and so on')], () => {
    asked += 1
  })
  t.match([answer.status, await answer.json()], [415, { error: { code: 'UNSUPPORTED_MEDIA_TYPE' } }])
  t.equal(asked, 1, 'no more of it is asked for')
  for (const bytes of [new Uint8Array(), Buffer.of(0xff, 0xd8, 0xff), Buffer.concat([jpeg().subarray(0, -2)])]) {
    t.equal((await gateway.ask('POST', photosPath, { by: people.olga, bytes })).status, 415)
  }
  t.same(filesBelow(join(gateway.folder, 'state', 'photos')), [])
})

t.test('the next start removes what a crash left of a photo', async (t) => {
  const gateway = await testGateway()
  const { body } = await gateway.ask('POST', photosPath, { by: people.olga, bytes: tinyPng })
  const left = join(gateway.folder, 'state', 'photos', 'upload-77-0.part')
  writeFileSync(left, 'half')
  const again = await gateway.restart()
  t.teardown(() => again.end())
  t.notOk(existsSync(left))
  t.equal((await again.ask('GET', `${photosPath}/${body.sha256}`, { by: people.olga })).status, 200)
})

t.test(
  'the disk runs short while a photo comes: it is refused, and one that is held is answered',
  {
    ...onSmallDisk,
  },
  async (t) => {
    const MiB = 1024 * 1024
    const disk = smallDisk(24)
    const gateway = await testGateway({
      folder: disk.folder,
      config: { retention: { minFreeBytes: '12MiB', ledgerReserveBytes: '8MiB' } },
    })
    t.teardown(() => {
      gateway.close()
      disk.end()
    })
    const send = (bytes: Buffer) => gateway.ask('POST', photosPath, { by: people.olga, bytes })
    const held = bigJpeg(2 * MiB)
    const before = await send(held)
    t.equal(before.status, 201)
    disk.fill(9 * MiB)
    t.match(await send(bigJpeg(2 * MiB)), {
      status: 503,
      body: { error: { code: 'STORAGE_FULL', details: /reserved for events/ } },
    })
    t.same(partsIn(gateway), [])
    t.same((await send(held)).body, before.body)
    t.same(partsIn(gateway), [])
  },
)
