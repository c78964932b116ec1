import t from 'tap'
import { ada, withConfig } from '../app/daemon-folder.ts'
import { diskShim, withShim } from '../support/disk/shim.ts'
import { tinyPng } from '../support/gateway.ts'
import { startDaemon } from '../support/process.ts'

const room = 'retention: { minFreeBytes: 1B, ledgerReserveBytes: 1B }'

t.test('a photo that the disk refuses is a 503 in the envelope, whatever refuses it', withShim, async (t) => {
  const { cwd, file } = withConfig(t, room)
  const disk = diskShim(t, cwd)
  const daemon = await startDaemon(['--config', file], { cwd, env: disk.env })
  t.teardown(() => void daemon.child.kill('SIGKILL'))
  const photos = `${daemon.url}/api/whms/evidence/photos`
  const answerOf = async (answer: Response) => ({
    ...{ code: answer.status, retryAfter: answer.headers.get('retry-after') },
    ...((await answer.json()) as { sha256?: string }),
  })
  const send = async () =>
    answerOf(await fetch(photos, { method: 'POST', headers: { ...ada, 'Content-Type': 'image/png' }, body: tinyPng }))
  const refused = (code: string) => ({ code: 503, retryAfter: /^\d+$/, success: false, error: { code } })
  for (const [on, errno, code] of [
    [['create'], 'EROFS', 'STORAGE_FULL'],
    [['create'], 'EACCES', 'STORAGE_FULL'],
    [['create', 'unlink'], 'EMFILE', 'NOT_READY'],
    [['write'], 'EIO', 'STORAGE_FULL'],
    [['write', 'unlink'], 'EROFS', 'STORAGE_FULL'],
    [['sync'], 'EIO', 'STORAGE_FULL'],
    [['rename', 'unlink'], 'EACCES', 'STORAGE_FULL'],
    [['open'], 'EMFILE', 'NOT_READY'],
    [['open'], 'EIO', 'STORAGE_FULL'],
    [['read', 'unlink'], 'EIO', 'STORAGE_FULL'],
  ] as const) {
    disk.fault({ on, part: 'state/photos', errno })
    t.match(await send(), refused(code), `${errno} in ${on.join(' and ')}`)
  }
  disk.fault()
  const stored = await send()
  t.equal(stored.code, 201)
  disk.fault({ on: ['open'], part: 'state/photos', errno: 'EIO' })
  const opened = await fetch(`${photos}/${stored.sha256}`, { headers: ada })
  t.match(await answerOf(opened), refused('NOT_READY'), 'a photo that cannot be opened')
})
