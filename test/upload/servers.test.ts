import { existsSync, mkdirSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { partBytes } from '../../src/upload/parts.ts'
import { type DavServer, startApache, startRclone, startSabre } from '../support/dav-servers.ts'
import { people, testGateway } from '../support/gateway.ts'
import { needs } from '../support/needs.ts'
import { onSmallDisk, smallDisk } from '../support/small-disk.ts'
import { allAre, begin, bytesOf, record, settled, sha256, uploadConfig } from '../support/uploads.ts'

const clip = bytesOf(partBytes + 12_345)
const path = 'gatehouse/test-site/clips/7/2026/03/02/2026-03-02T08-01-00.000Z_8s_1.mp4'

const rclone = needs('rclone')
const servers: readonly (readonly [name: string, needed: { skip?: string }, start: (t: Test) => Promise<DavServer>])[] =
  [
    ['rclone serve webdav', rclone, startRclone],
    ['apache2 with mod_dav', needs('apache2'), startApache],
    ['SabreDAV', needs('sabredav'), startSabre],
  ]

for (const [name, needed, start] of servers) {
  t.test(`${name} takes clips, which are compared by size, and keeps what is there`, needed, async (t) => {
    const server = await start(t)
    const folder = t.testdir({ gateway: {} })
    const gateway = await testGateway({
      folder: join(folder, 'gateway'),
      config: uploadConfig(join(folder, 'gateway'), server.url),
    })
    await begin(t, gateway)
    await record(gateway, 1, clip)
    t.match(await settled(gateway, allAre('uploaded')), [{ verified: 'size', attempts: 1, lastError: null }])
    t.equal(sha256(readFileSync(join(server.files, path))), sha256(clip))
    const about = JSON.parse(readFileSync(join(server.files, path.replace('.mp4', '.json')), 'utf8'))
    t.match(about, { cameraId: 7, sha256: sha256(clip) })
    t.strictSame(
      readdirSync(join(server.files, path, '..')).filter((one) => one.endsWith('.part')),
      [],
    )
    const detection = await gateway.ask('GET', '/api/iot/detection-events/1', { by: people.vera })
    t.match(detection.body, { uploadStatus: 'uploaded', clipUrls: { storage: `${server.url}/${path}` } })

    const taken = path.replace('08-01-00.000Z_8s_1', '08-02-00.000Z_8s_2')
    const authorization = `Basic ${Buffer.from('gatehouse-dc7:app-password-of-dc7').toString('base64')}`
    await fetch(`${server.url}/${taken}`, { method: 'PUT', headers: { authorization }, body: 'of somebody else' })
    await record(gateway, 2, clip)
    const [, second] = await settled(gateway, (rows) => rows[1]?.status === 'parked')
    t.match(second, { lastError: 'the server has 16 bytes under this name and not 5255225' })
    t.equal(readFileSync(join(server.files, taken), 'utf8'), 'of somebody else')
    t.ok(existsSync(join(gateway.live.config.dataDir, 'clips/2.mp4')))
  })
}

t.test(
  'clips that rclone has no room for wait for it with one alert, and follow when one has fitted',
  { ...rclone, ...onSmallDisk },
  async (t) => {
    const disk = smallDisk(8)
    t.teardown(() => disk.end())
    mkdirSync(join(disk.folder, 'files'))
    const server = await startRclone(t, disk.folder)
    const folder = t.testdir({ gateway: {} })
    const config = uploadConfig(join(folder, 'gateway'), server.url)
    const gateway = await testGateway({ folder: join(folder, 'gateway'), config })
    await begin(t, gateway)
    disk.fill(100_000)
    for (const id of [1, 2]) await record(gateway, id, bytesOf(1_000_000 + id))
    // rclone may cut the line before its answer is read: then the next attempt tells.
    const parked = await settled(gateway, (rows) => {
      const areParked = rows.length === 2 && allAre('parked')(rows)
      if (!areParked) gateway.clock.advance(1000)
      return areParked
    })
    t.match(parked, [{ parkedFor: 'quota' }, { parkedFor: 'quota' }])
    // The first refusal parks the other clip too, and either may be the first.
    const words = /HTTP 405 to sending the file: .* no room, or cannot write it/
    t.ok(
      parked.some(({ lastError }) => words.test(lastError ?? '')),
      'the answer of the server is told',
    )
    const alerts = await gateway.ask('GET', '/api/alerts', { by: people.ada })
    t.match(alerts.body.data, {
      length: 1,
      0: { kind: 'upload.no_room', message: /the clip [12], or cannot write it\. Make room/ },
    })
    disk.empty()
    await record(gateway, 3, bytesOf(1_000_003))
    await settled(gateway, (rows) => rows.length === 3 && allAre('uploaded')(rows))
  },
)
