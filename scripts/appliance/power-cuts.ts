import { box, made, onStick, runs, secondsSince, startLimitMs, systemNow, theFloor, withStick } from './the-box.ts'
import { type Bench, holds } from './trial.ts'

/** How many there are to be in all; those of an earlier run on the same box count. */
export const cuts = Number(process.env['GATEHOUSE_POWER_CUTS'] ?? 20)

/** Half of the cuts hit while an update is written. Each comes at another moment. */
export async function powerCuts({ say }: Bench): Promise<void> {
  const system = await systemNow()
  for (let cut = made.cuts + 1; cut <= cuts; cut += 1) {
    const inUpdate = cut % 2 === 0
    theFloor().start()
    await theFloor().more(10 + (cut % 7), startLimitMs)
    if (inUpdate) await untilUpdateIsWritten(system, 10 + ((cut * 37) % 200))
    await box().cut()
    const startedMs = performance.now()
    await box().start()
    await runs(system)
    const seconds = secondsSince(startedMs)
    await theFloor().stop()
    await theFloor().allThere()
    made.cuts = cut
    const count = theFloor().acknowledged.size
    say(`cut ${cut}${inUpdate ? ', in an update' : ''}: back in ${seconds} s, all ${count} acknowledged events there`)
  }
  const verified = await box().must('gatehouse ledger verify --json', startLimitMs)
  holds(verified.includes('"ok":true'), verified)
}

/** Begins an update, and resolves when so many MiB of it are in the slot that is not in use. */
async function untilUpdateIsWritten(system: string, mebibytes: number): Promise<void> {
  const written = `awk '{ print $7 }' /sys/class/block/${box().partition(system.startsWith('A') ? 'B' : 'A')}/stat`
  await box().must(
    `${withStick}
    before=$(${written})
    systemd-run --quiet --unit=trial-update /usr/lib/gatehouse-appliance/update ${onStick('third')}
    while [ $(($(${written}) - before)) -lt ${mebibytes * 2048} ]; do systemctl is-active -q trial-update; sleep 0.2; done`,
    startLimitMs,
  )
}
