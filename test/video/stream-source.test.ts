import t from 'tap'
import { concatList, redactor, resolveHost, streamUrl } from '../../src/video/stream/source.ts'

const source = { url: 'rtsp://10.0.0.21:554/main', username: 'viewer', password: 'geheim' }

t.test('the credentials of the config stand in the URL that ffmpeg reads from its stdin', async (t) => {
  t.equal(streamUrl(source), 'rtsp://viewer:geheim@10.0.0.21:554/main?tcp')
  const hard = { ...source, username: 'a b', password: "p/@:?#%'()*!" }
  t.equal(streamUrl(hard), 'rtsp://a%20b:p%2F%40%3A%3F%23%25%27%28%29%2A%21@10.0.0.21:554/main?tcp')
  t.equal(streamUrl({ ...source, username: null, password: null }), 'rtsp://10.0.0.21:554/main?tcp')
  t.equal(streamUrl({ url: 'rtsp://u:p@cam/x', username: null, password: null }), 'rtsp://u:p@cam/x?tcp')
})

t.test('the rest of the URL is handed on as it was written', async (t) => {
  const url = 'rtsp://cam/cam/realmonitor?channel=1&subtype=0'
  t.equal(
    streamUrl({ ...source, url }, '10.0.0.9'),
    'rtsp://viewer:geheim@10.0.0.9/cam/realmonitor?channel=1&subtype=0&tcp',
  )
  t.equal(streamUrl({ ...source, url: 'rtsps://cam:322/a' }, '::1'), 'rtsps://viewer:geheim@[::1]:322/a?tcp')
  t.equal(streamUrl({ ...source, url: 'rtsp://[fe80::1]:554/a' }), 'rtsp://viewer:geheim@[fe80::1]:554/a?tcp')
  t.equal(streamUrl({ ...source, url: 'rtsp://cam' }), 'rtsp://viewer:geheim@cam?tcp')
})

t.test('the list quotes what has quotes, and has options only for an ffmpeg that knows them', async (t) => {
  const quoting = { url: "rtsp://cam/it's", username: null, password: null }
  t.equal(
    concatList(quoting, undefined, { listOptions: false, setsTimes: false }),
    "ffconcat version 1.0\nfile 'rtsp://cam/it'\\''s?tcp'\n",
  )
  t.match(concatList(source, undefined, { listOptions: true, setsTimes: true }), /\noption timeout 5000000\n/)
})

t.test('nothing that is said keeps a password, however it is written there', async (t) => {
  const hard = { ...source, password: "p w:@'" }
  const redact = redactor(hard)
  const said = `Impossible to open '${streamUrl(hard)}' p w:@' ${encodeURIComponent(hard.password)}`
  t.notMatch(redact(said), /p%20w|p w/)
  t.match(redact(said), /10\.0\.0\.21/)
  t.notMatch(redactor({ url: 'rtsp://u:sec%20ret@cam/', username: null, password: null })('sec ret sec%20ret'), /sec/)
})

t.test('a name is looked up here, an address is left alone', async (t) => {
  t.equal(await resolveHost(source), undefined)
  t.equal(await resolveHost({ ...source, url: 'rtsp://[::1]/x' }), undefined)
  t.match(await resolveHost({ ...source, url: 'rtsp://localhost/x' }), /^(127\.0\.0\.1|::1)$/)
  await t.rejects(resolveHost({ ...source, url: 'rtsp://nowhere.invalid/x' }))
})
