import { readFileSync } from 'node:fs'
import type { Account } from '../demo-parts/client.ts'
import { Floor } from './floor.ts'
import { versions } from './image-make.ts'
import {
  anotherStart,
  box,
  install,
  openFloor,
  runs,
  secondsSince,
  startLimitMs,
  startNumber,
  systemNow,
  theFloor,
} from './the-box.ts'
import { type Bench, holds } from './trial.ts'

const slots = 40

/** Slots, and handhelds that may ask as often as they can. */
export async function floorOpens(): Promise<void> {
  const labels = Array.from({ length: slots }, (_, n) => `A-${n + 1}-1`)
  await box().must(`printf '%s\\n' slot_id ${labels.join(' ')} > /tmp/slots.csv && chmod 644 /tmp/slots.csv`)
  await box().must("gatehouse import slots /tmp/slots.csv --warehouse 'Hall 1' --grid --create-zones", startLimitMs)
  const limits = 'rateLimit: { requestsPerMinute: 100000 }'
  await box().must(
    `echo '${limits}' > /etc/gatehouse/conf.d/60-limits.yaml && chgrp gatehouse /etc/gatehouse/conf.d/60-limits.yaml && chmod 640 /etc/gatehouse/conf.d/60-limits.yaml && sync && systemctl reload gatehouse`,
  )
  const made = JSON.parse((/\{.*\}/.exec(await box().must('cat /efi/first-boot.result.txt')) ?? ['{}'])[0]) as {
    secretFile: string
    url: string
  }
  const secret = (await box().must(`cat ${made.secretFile}`)).trim()
  const account: Account = { username: 'ada', role: 'admin', secret, secretHash: '', instance: made.url }
  const empty = { account, sent: 0, acknowledged: [] }
  const list = await new Floor(box(), { ...empty, slots: [] }).ask('GET', '/api/whms/slots?limit=100')
  holds(
    list.status === 200 && list.body.data.length === slots,
    `the slots were answered with ${list.status} ${JSON.stringify(list.body).slice(0, 300)}`,
  )
  openFloor({ ...empty, slots: list.body.data })
}

export async function update({ say }: Bench): Promise<void> {
  theFloor().start()
  await theFloor().more(20, startLimitMs)
  const startedMs = performance.now()
  const said = await install('second')
  holds(/the box starts from it$/m.test(said), said)
  say(`written and rehearsed in ${secondsSince(startedMs)} s`)
  await runs(`B ${versions.second}`)
  await theFloor().more(5, startLimitMs)
  await theFloor().stop()
  await theFloor().allThere()
  const count = theFloor().acknowledged.size
  say(`${count} events acknowledged while it changed its system in ${secondsSince(startedMs)} s, all there`)
}

/** An update that cannot stay: the box must come back to the system before, by itself. */
async function comesBack(from: 'broken' | 'unreadable', say: Bench['say']): Promise<void> {
  const startedMs = performance.now()
  const [before, system] = [await startNumber(), await systemNow()]
  const said = await install(from)
  holds(/the box starts from it$/m.test(said), said)
  await anotherStart(before)
  await runs(system)
  await theFloor().allThere()
  say(`back on ${system} ${secondsSince(startedMs)} s after the update began`)
}

export async function brokenUpdate({ say }: Bench): Promise<void> {
  await comesBack('broken', say)
  const log = await box().must('journalctl -u gatehouse-slot -o cat --no-pager')
  holds(/not healthy after 60 s; slot A is given up/.test(log), log)
}

export async function unreadableUpdate({ say }: Bench): Promise<void> {
  const other = (await systemNow()).startsWith('A') ? 'B' : 'A'
  await comesBack('unreadable', say)
  const starts = readFileSync(box().console, 'utf8').match(new RegExp(`slot ${other} cannot be started`, 'g')) ?? []
  holds(starts.length === 3, `GRUB tried the unreadable slot ${starts.length} times, not three`)
}

export async function strangerUpdate(): Promise<void> {
  const said = await install('stranger')
  holds(/refused$/.test(said) && /signature/i.test(said), said)
}
