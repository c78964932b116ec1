import { once } from 'node:events'
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net'
import t from 'tap'
import { Knock, placeOf } from '../../src/video/stream/knock.ts'

/** A door that counts who came and what they said. */
async function door(): Promise<{ server: Server; port: number; came: Promise<string> }> {
  const server = createServer()
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const came = once(server, 'connection').then(async ([socket]: Socket[]) => {
    let said = ''
    socket?.on('data', (bytes) => {
      said += bytes
    })
    socket?.on('error', () => {})
    if (socket) await once(socket, 'close')
    return said
  })
  return { server, port: (server.address() as AddressInfo).port, came }
}

const knockAt = (url: string) =>
  new Promise<boolean>((resolve) => {
    new Knock(resolve).start({ url, username: 'viewer', password: 'secret' })
  })

for (const [words, host, scheme] of [
  ['an address', '127.0.0.1', 'rtsp'],
  ['a host name, looked up,', 'localhost', 'rtsp'],
  ['an encrypted stream', '127.0.0.1', 'rtsps'],
] as const) {
  t.test(`${words} is asked by a connection that says nothing and closes at once`, async (t) => {
    const { server, port, came } = await door()
    t.teardown(() => server.close())
    t.equal(await knockAt(`${scheme}://${host}:${port}/main`), true)
    t.equal(await came, '', 'no byte, so no sign-in that a camera could count')
  })
}

t.test('a closed port and an unknown name are no answer', async (t) => {
  const { server, port } = await door()
  server.close()
  await once(server, 'close')
  t.equal(await knockAt(`rtsp://127.0.0.1:${port}/main`), false)
  t.equal(await knockAt('rtsp://nowhere.invalid/main'), false)
})

t.test('a name that nobody looks up in time is looked up once, not at every knock', async (t) => {
  const { server, port, came } = await door()
  t.teardown(() => server.close())
  const asked: PromiseWithResolvers<string>[] = []
  const answered = Promise.withResolvers<boolean>()
  const knock = new Knock(answered.resolve, () => {
    asked.push(Promise.withResolvers<string>())
    return (asked.at(-1) as PromiseWithResolvers<string>).promise
  })
  const source = { url: `rtsp://camera.example:${port}/main`, username: null, password: null }
  for (const _ of [1, 2, 3]) knock.start(source)
  t.equal(asked.length, 1)
  asked[0]?.resolve('127.0.0.1')
  t.equal(await answered.promise, true, 'the newest one goes on')
  await came
  knock.start(source)
  t.equal(asked.length, 2, 'the address may be another one by now')
  knock.cancel()
})

t.test('a knock that was given up reports nothing', async (t) => {
  const { server, port, came } = await door()
  t.teardown(() => server.close())
  const results: boolean[] = []
  const knock = new Knock((answered) => results.push(answered))
  knock.start({ url: `rtsp://127.0.0.1:${port}/main`, username: null, password: null })
  knock.cancel()
  knock.start({ url: `rtsp://127.0.0.1:${port}/main`, username: null, password: null })
  await came
  t.strictSame(results, [true])
})

t.test('without a port in the URL the usual ones are asked', async (t) => {
  t.strictSame(placeOf('rtsp://10.0.0.21/main'), { host: '10.0.0.21', port: 554 })
  t.strictSame(placeOf('rtsps://[fd00::21]/main'), { host: 'fd00::21', port: 322 })
})
