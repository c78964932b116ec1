import t from 'tap'
import { concatList, redactor, relayedUrl, resolveHost } from '../../src/video/stream/source.ts'

const source = { url: 'rtsp://10.0.0.21:554/main', username: 'viewer', password: 'geheim' }

t.test('the credentials of the config stand in the URL that ffmpeg reads from its stdin', async (t) => {
  t.equal(relayedUrl(source, 40_000), 'rtsp://viewer:geheim@127.0.0.1:40000/main')
  const hard = { ...source, username: 'a b', password: "p/@:?#%'()*!" }
  t.equal(relayedUrl(hard, 1), 'rtsp://a%20b:p%2F%40%3A%3F%23%25%27%28%29%2A%21@127.0.0.1:1/main')
  t.equal(relayedUrl({ ...source, username: null, password: null }, 1), 'rtsp://127.0.0.1:1/main')
  t.equal(relayedUrl({ url: 'rtsp://u:p@cam/x', username: null, password: null }, 1), 'rtsp://u:p@127.0.0.1:1/x')
})

t.test('the rest of the URL is handed on as it was written', async (t) => {
  const url = 'rtsp://cam/cam/realmonitor?channel=1&subtype=0'
  t.equal(relayedUrl({ ...source, url }, 1), 'rtsp://viewer:geheim@127.0.0.1:1/cam/realmonitor?channel=1&subtype=0')
  t.equal(relayedUrl({ ...source, url: 'rtsps://[::1]:322/a' }, 1), 'rtsp://viewer:geheim@127.0.0.1:1/a')
  t.equal(relayedUrl({ ...source, url: 'rtsp://cam' }, 1), 'rtsp://viewer:geheim@127.0.0.1:1')
})

t.test('the list quotes what has quotes, and has options only for an ffmpeg that knows them', async (t) => {
  const quoting = { url: "rtsp://cam/it's", username: null, password: null }
  t.equal(
    concatList(quoting, 1, { listOptions: false, setsTimes: false }),
    "ffconcat version 1.0\nfile 'rtsp://127.0.0.1:1/it'\\''s'\n",
  )
  t.match(concatList(source, 1, { listOptions: true, setsTimes: true }), /\noption timeout 5000000\n/)
})

t.test('nothing that is said keeps a password, however it is written there', async (t) => {
  const hard = { ...source, password: "p w:@'" }
  const redact = redactor(hard)
  const said = `Impossible to open '${relayedUrl(hard, 1)}' p w:@' ${encodeURIComponent(hard.password)}`
  t.notMatch(redact(said), /p%20w|p w/)
  t.match(redact(said), /127\.0\.0\.1:1/)
  t.notMatch(redactor({ url: 'rtsp://u:sec%20ret@cam/', username: null, password: null })('sec ret sec%20ret'), /sec/)
})

t.test('a name is looked up here, an address is left alone', async (t) => {
  t.equal(await resolveHost(source), undefined)
  t.equal(await resolveHost({ ...source, url: 'rtsp://[::1]/x' }), undefined)
  t.match(await resolveHost({ ...source, url: 'rtsp://localhost/x' }), /^(127\.0\.0\.1|::1)$/)
  await t.rejects(resolveHost({ ...source, url: 'rtsp://nowhere.invalid/x' }))
})
