import { readdirSync, writeFileSync } from 'node:fs'
import t from 'tap'
import { footage } from '../support/footage.ts'
import { blocksOf, type ManualBox, manualBox, putFile } from '../support/manual-box.ts'
import { csvOf, fileOf, isAdministered, isShell, manualPlayer, setUpBox, yamlOf } from '../support/manual-play.ts'
import { needs } from '../support/needs.ts'
import { jpeg } from '../support/photo.ts'
import { startRtspServer } from '../support/rtsp/server.ts'
import { waitUntil } from '../support/waiting.ts'

t.setTimeout(600_000)

let box: ManualBox
t.before(async () => {
  box = await manualBox()
})
const stops: (() => unknown)[] = []
t.teardown(async () => {
  for (const stop of stops) await stop()
  await box.end()
})

const player = manualPlayer(() => box, isAdministered)
const { typed, play, hasPlayed } = player

t.test('a box with a pallet, a photo and a clip', needs('ffmpeg', 'curl'), async (t) => {
  const auth = { username: 'viewer', password: 'pass of the camera' }
  const camera = await startRtspServer({ streams: { main: await footage('crossing') }, auth })
  stops.push(() => camera.stop())
  await setUpBox(t, player)
  const url = { 'rtsp://10.0.0.21:554/main': camera.url('main') }
  await play(t, 'start', 'Add the first camera', { edits: url, input: `${auth.password}\n` })
  putFile(box, 'home/slots.csv', csvOf('start'))
  await play(t, 'start', 'Add slots', { edits: { ' --dry-run': '' }, says: /3 new/ })
  await play(t, 'start', 'Place the first pallet', { edits: { HOSTNAME: 'localhost' }, says: /"effect":"applied"/ })
  writeFileSync(box.at('home/pallet.jpg'), jpeg())
  const { code, stdout } = await box.run(
    `curl -s --fail-with-body -H "Authorization: Bearer $(cat /etc/gatehouse/secrets/account-admin)" -H 'X-Storage-Instance: ${box.url}' -H 'X-Storage-Username: admin' -H 'Content-Type: image/jpeg' --data-binary @pallet.jpg '${box.localUrl}/api/whms/evidence/photos'`,
  )
  t.equal(code, 0, stdout)
  const clips = () => readdirSync(box.at('var/lib/gatehouse/clips'), { recursive: true, encoding: 'utf8' })
  await waitUntil('a clip', () => clips().some((name) => name.endsWith('.mp4')), { withinMs: 300_000, everyMs: 500 })
})

t.test('a box burns, and comes back from each kind of copy; systemctl edit is not run', async (t) => {
  await play(t, 'backup', 'Make a backup by hand', { says: /photos and clips are in it/ })
  putFile(box, 'etc/gatehouse/conf.d/60-backup.yaml', yamlOf('backup', 'Schedule').replace('/mnt', `${box.folder}/mnt`))
  await play(t, 'backup', 'Schedule')
  await play(t, 'backup', 'Segments')
  putFile(
    box,
    'etc/gatehouse/conf.d/61-segments.yaml',
    `backup: { segments: { to: { folder: ${box.at('mnt/nas/gatehouse')} }, every: 1s } }`,
  )
  await box.run('systemctl reload gatehouse')
  const nas = () => readdirSync(box.at('mnt/nas/gatehouse'), { recursive: true, encoding: 'utf8' })
  await waitUntil(
    'a backup and a segment',
    () => ['.tar', '.seg'].every((end) => nas().some((name) => name.endsWith(end))),
    { withinMs: 240_000 },
  )
  await play(t, 'backup', 'Check', {
    edits: { 'sudo gatehouse doctor': 'sudo gatehouse doctor --no-cameras || [ $? -eq 1 ]' },
    says: /with photos and clips/,
  })
  const file = nas().find((name) => name.endsWith('.tar')) ?? ''
  await box.run('mv /var/lib/gatehouse/dc-7-full.tar /mnt/nas; systemctl stop gatehouse')
  const sources = { 'gatehouse-dc-7-20260302T080000Z.tar': file, FOLDER_OR_URL: '/mnt/nas/gatehouse' }
  const lines = typed('backup', 'Restore', { nth: 1, edits: sources })
    .split('\n')
    .filter((line) => line !== '' && !line.includes('SEALED'))
  t.equal(lines.length, 2)
  // The backup comes last: it has the photos and clips, which segments lack.
  for (const line of lines.toReversed()) {
    await box.run('rm -rf /var/lib/gatehouse; mkdir /var/lib/gatehouse')
    await play(t, 'backup', 'Restore')
    const { code, stdout, stderr } = await box.run(line)
    t.equal(code, 0, `${line}\n${stdout}${stderr}`)
  }
  await play(t, 'backup', 'Restore', { nth: 2 })
  await play(t, 'backup', 'Restore', { nth: 4 })
  await play(t, 'backup', 'Restore', { nth: 3, says: /everything matches/ })
  const at = { 'FILE.tar': '/var/lib/gatehouse/../../../mnt/nas/dc-7-full.tar' }
  await play(t, 'backup', 'Rehearse by hand', { edits: at, says: /everything matches/ })
})

t.test('each command of the page was played', (t) => {
  for (const block of blocksOf(fileOf('backup')).filter(isShell))
    t.ok(hasPlayed('backup', block), `${fileOf('backup')}:${block.line}: no test runs this block`)
  t.end()
})
