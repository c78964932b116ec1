/** A clip that cannot be made on a disk that is really full, with a running gateway. */
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { ada, configText, start } from '../app/daemon-folder.ts'
import { onSmallDisk, smallDisk } from '../support/small-disk.ts'
import { leaveSpool } from '../support/taped-camera.ts'
import { eventually, waitUntil } from '../support/waiting.ts'

t.setTimeout(120_000)

const mebibyte = 1024 * 1024
const limits = 'minFreeBytes: 16MiB, ledgerReserveBytes: 16MiB, clips: { maxAgeDays: 3650 }'
const more = `retention: { ${limits} }
cameras: [{ id: 1, url: "rtsp://127.0.0.1:1/", enabled: false }]
`

t.test(
  'a full disk costs a clip that could not be made, also one that the database does not know, and the gateway says so',
  onSmallDisk,
  async (t) => {
    const disk = smallDisk(32)
    t.teardown(() => disk.end())
    const clips = join(disk.folder, 'state', 'clips')
    mkdirSync(clips, { recursive: true })
    await leaveSpool(clips, 9)
    disk.fill(10 * mebibyte)
    const file = join(disk.folder, 'gatehouse.yaml')
    writeFileSync(file, configText(more))
    const daemon = await start(t, disk.folder, file)
    await daemon.logged('a clip could not be made; its video is kept')
    await waitUntil('it is let go, and the loss is recorded', () => !existsSync(join(clips, '9.json')), {
      withinMs: 20_000,
    })
    t.notOk(existsSync(join(clips, '9.ts.part')))
    const ask = async (path: string): Promise<{ kind: string }[]> => {
      const answer = await fetch(`${daemon.url}${path}`, { headers: ada })
      const { data } = (await answer.json()) as { data: { kind: string }[] }
      return data
    }
    const reason =
      /^It could not be made into a clip before the disk was nearly full \(retention\.minFreeBytes: 16777216\)\.$/
    t.match(await ask('/api/iot/detection-events'), [{ id: 9, cctvId: 1, clipStatus: 'lost', reason }])
    await eventually(
      () => ask('/api/alerts'),
      (all) => all.some(({ kind }) => kind === 'disk.reserve'),
    )
  },
)
