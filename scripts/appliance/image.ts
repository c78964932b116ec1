import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Account } from '../demo-parts/client.ts'
import { copyDisk, putOnBootPartition } from '../image/disk.ts'
import { Floor } from './floor.ts'
import { bundleName, makeImageAndUpdates, stickName, type Update, versions } from './image-make.ts'
import { Machine, whyNoMachine } from './machine.ts'
import { type Bench, holds, run, Skipped, type Trial } from './trial.ts'

/** An emulated start takes one to two minutes on two processors. */
const startLimitMs = 480_000
const cuts = Number(process.env['GATEHOUSE_POWER_CUTS'] ?? 20)
const slots = 40

let machine: Machine | undefined
let floor: Floor | undefined

const box = (): Machine => {
  if (!machine) throw new Skipped('there is no machine')
  return machine
}
const theFloor = (): Floor => {
  if (!floor) throw new Skipped('the box was not set up')
  return floor
}

/** Once for a folder: one that is kept has it already. */
async function make({ folder }: Bench): Promise<void> {
  const why = whyNoMachine()
  if (why !== undefined) throw new Skipped(why)
  if (!existsSync(join(folder, stickName))) await makeImageAndUpdates(folder)
}

async function firstBoot({ folder, say }: Bench): Promise<void> {
  if (!existsSync(join(folder, stickName))) throw new Skipped('there is no image')
  const key = join(folder, 'admin-key')
  for (const old of [key, `${key}.pub`]) rmSync(old, { force: true })
  await run('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-f', key])
  const disk = join(folder, 'box.img')
  await copyDisk(join(folder, 'appliance.img'), disk, 8)
  const settings = [
    ...['siteId=dc-7', 'admin=ada', 'warehouse=Hall 1', 'timezone=Europe/Berlin'],
    ...['# a file from Windows', `sshKey=${readFileSync(`${key}.pub`, 'utf8').trim()}`],
  ]
  writeFileSync(join(folder, 'first-boot.txt'), settings.join('\r\n'))
  await putOnBootPartition(disk, join(folder, 'first-boot.txt'), 'first-boot.txt')
  machine = await Machine.of({ folder, disk, key, stick: join(folder, stickName) })
  const startedMs = performance.now()
  await machine.start()
  await machine.until('ssh', () => box().must('true'), startLimitMs)
  await machine.until('health', healthy, startLimitMs)
  say(
    `healthy ${Math.round((performance.now() - startedMs) / 1000)} s after power came, first set-up included (emulated)`,
  )
  say(
    (await box().must('systemctl is-system-running --wait > /dev/null || true; systemd-analyze time')).split('\n')[0] ??
      '',
  )
}

async function healthy(): Promise<void> {
  const url = `https://127.0.0.1:${box().ports.https}`
  const said = await run('curl', ['-fsSk', '--max-time', '20', `${url}/api/health`])
  holds(/"status":"(healthy|degraded)"/.test(said), said)
}

/** What first-boot.txt asked for, and what the recipe promises. */
async function asPromised({ say }: Bench): Promise<void> {
  await box().must('test ! -e /efi/first-boot.txt && grep -q "is set up" /efi/first-boot.result.txt')
  holds(
    (await box().must('cat /proc/sys/kernel/hostname')).trim() === 'dc-7',
    'the name of the box is not that of its site',
  )
  holds(
    /MulticastDNS setting.*yes|\+mDNS/.test(await box().must('resolvectl status')),
    'it does not answer to its mDNS name',
  )
  holds(/ ro[ ,]/.test(await box().must('grep " / " /proc/mounts')), 'the root can be written')
  const room = Number(await box().must('df --output=size -BM /state | tail -n 1 | tr -dc 0-9'))
  holds(room > 4000, `the state partition has ${room} MB of a disk of 8 GiB`)
  holds(
    /RuntimeWatchdogUSec=30s/.test(await box().must('systemctl show -p RuntimeWatchdogUSec')),
    'no hardware watchdog',
  )
  holds(
    /i6300ESB/i.test(await box().must('cat /sys/class/watchdog/watchdog0/identity')),
    'the watchdog is not the one of the machine',
  )
  const sshd = await box().must('sshd -T')
  for (const line of ['passwordauthentication no', 'permitrootlogin no', 'kbdinteractiveauthentication no']) {
    holds(sshd.includes(line), `sshd does not say: ${line}`)
  }
  holds(
    (await box().must('systemctl is-enabled getty@tty1 || true')).trim() === 'masked',
    'a scanner can type into a sign-in',
  )
  const root = await box().must('df --output=used -BM / | tail -n 1 | tr -dc 0-9')
  say(`root ${root} MB as it lies in its slot`)
  const memory = await box().must('systemctl show gatehouse -p MemoryCurrent --value; free -m | sed -n 2p')
  say(`memory of gatehouse and of the box: ${memory.trim().replace(/\s+/g, ' ')}`)
  await box().until('the slot is kept', () => box().must('test -e /state/update/healthy-A'), 180_000)
}

async function openFloor(): Promise<void> {
  const labels = Array.from({ length: slots }, (_, n) => `A-${n + 1}-1`)
  await box().must(`printf '%s\\n' slot_id ${labels.join(' ')} > /tmp/slots.csv && chmod 644 /tmp/slots.csv`)
  await box().must("gatehouse import slots /tmp/slots.csv --warehouse 'Hall 1' --grid --create-zones", 300_000)
  const limits = 'rateLimit: { requestsPerMinute: 100000 }'
  await box().must(
    `echo '${limits}' > /etc/gatehouse/conf.d/60-limits.yaml && chgrp gatehouse /etc/gatehouse/conf.d/60-limits.yaml && chmod 640 /etc/gatehouse/conf.d/60-limits.yaml && systemctl reload gatehouse`,
  )
  const made = JSON.parse((/\{.*\}/.exec(await box().must('cat /efi/first-boot.result.txt')) ?? ['{}'])[0]) as {
    secretFile: string
    url: string
  }
  const secret = (await box().must(`cat ${made.secretFile}`)).trim()
  const account: Account = { username: 'ada', role: 'admin', secret, secretHash: '', instance: made.url }
  const url = `https://127.0.0.1:${box().ports.https}`
  const list = await new Floor({ url, account, slots: [] }).ask('GET', '/api/whms/slots?limit=100')
  holds(
    list.status === 200 && list.body.data.length === slots,
    `the slots were answered with ${list.status} ${JSON.stringify(list.body).slice(0, 300)}`,
  )
  floor = new Floor({ url, account, slots: list.body.data })
}

/** Installs an update from the stick; the box starts from it when that succeeds. What it said. */
async function install(update: Update): Promise<string> {
  const script = `mkdir -p /run/stick && { mountpoint -q /run/stick || mount -o ro LABEL=updates /run/stick; }`
  const command = `/usr/lib/gatehouse-appliance/update /run/stick/${bundleName(update)} 2>&1 || echo refused`
  return (await box().must(`${script}; ${command}`, 900_000)).trim()
}

const slotNow = async (): Promise<string> =>
  (await box().must("sed -n 's/.*rauc.slot=\\([AB]\\).*/\\1/p' /proc/cmdline; cat /etc/gatehouse-image"))
    .trim()
    .replace('\n', ' ')

/** Waits until the box runs another system than `before`, and is healthy. */
async function runs(wanted: string, limitMs: number): Promise<void> {
  await box().until(
    `${wanted} runs`,
    async () => {
      const now = await slotNow()
      holds(now === wanted, `${now} runs`)
      await healthy()
      await box().must(
        `test "$(cat /state/update/healthy-${wanted[0]})" = '${wanted}' && ! systemctl is-active -q gatehouse-slot`,
      )
    },
    limitMs,
  )
}

async function update({ say }: Bench): Promise<void> {
  theFloor().start()
  await theFloor().more(20, 180_000)
  const startedMs = performance.now()
  const said = await install('second')
  holds(/the box starts from it$/m.test(said), said)
  await runs(`B ${versions.second}`, startLimitMs)
  await theFloor().more(5, 180_000)
  await theFloor().stop()
  await theFloor().allThere()
  say(
    `${theFloor().acknowledged.size} events acknowledged while it changed its system in ${Math.round((performance.now() - startedMs) / 1000)} s, all there`,
  )
}

/** An update that cannot stay: the box must come back to the system before, by itself. */
async function comesBack(from: 'broken' | 'unreadable', say: Bench['say']): Promise<void> {
  const startedMs = performance.now()
  const before = await startNumber()
  const said = await install(from)
  holds(/the box starts from it$/m.test(said), said)
  await box().until('another start', async () => holds((await startNumber()) !== before, 'the same'), startLimitMs)
  await runs(`B ${versions.second}`, 2 * startLimitMs)
  await theFloor().allThere()
  const seconds = Math.round((performance.now() - startedMs) / 1000)
  say(`back on the system before ${seconds} s after the update began`)
}

async function brokenUpdate({ say }: Bench): Promise<void> {
  await comesBack('broken', say)
  const log = await box().must('journalctl -u gatehouse-slot -o cat --no-pager')
  holds(/not healthy after 60 s; slot A is given up/.test(log), log)
}

async function unreadableUpdate({ say }: Bench): Promise<void> {
  await comesBack('unreadable', say)
  const starts = readFileSync(box().console, 'utf8').match(/slot A cannot be started/g) ?? []
  holds(starts.length === 3, `GRUB tried the unreadable slot ${starts.length} times, not three`)
}

async function strangerUpdate(): Promise<void> {
  const said = await install('stranger')
  holds(/refused$/.test(said) && /signature/i.test(said), said)
}

/** Half of the cuts hit while an update is written. Each comes at another moment. */
async function powerCuts({ say }: Bench): Promise<void> {
  for (let cut = 1; cut <= cuts; cut += 1) {
    const inUpdate = cut % 2 === 0
    theFloor().start()
    await theFloor().more(10 + (cut % 7), 300_000)
    if (inUpdate) await untilUpdateIsWritten(10 + ((cut * 37) % 200))
    await box().cut()
    const startedMs = performance.now()
    await box().start()
    await runs(`B ${versions.second}`, startLimitMs)
    const seconds = Math.round((performance.now() - startedMs) / 1000)
    await theFloor().stop()
    await theFloor().allThere()
    const count = theFloor().acknowledged.size
    say(`cut ${cut}${inUpdate ? ', in an update' : ''}: back in ${seconds} s, all ${count} acknowledged events there`)
  }
  const verified = await box().must('gatehouse ledger verify --json', 600_000)
  holds(verified.includes('"ok":true'), verified)
}

/** Begins an update, and resolves when so many MiB of it are in the slot that is not in use. */
async function untilUpdateIsWritten(mebibytes: number): Promise<void> {
  const written = "awk '{ print $7 }' /sys/class/block/vda2/stat"
  await box().must(
    `mkdir -p /run/stick; mount -o ro LABEL=updates /run/stick
    systemd-run --quiet --unit=trial-update /usr/lib/gatehouse-appliance/update /run/stick/${bundleName('third')}
    while [ "$(${written})" -lt ${mebibytes * 2048} ]; do systemctl is-active -q trial-update; sleep 0.2; done`,
    300_000,
  )
}

const startNumber = () => box().must('cat /proc/sys/kernel/random/boot_id')

async function watchdog({ say }: Bench): Promise<void> {
  const before = await startNumber()
  const startedMs = performance.now()
  await box().must('sysctl -q -w kernel.panic=0; (sleep 2; echo c > /proc/sysrq-trigger) > /dev/null 2>&1 &')
  await box().until('another start', async () => holds((await startNumber()) !== before, 'the same'), startLimitMs)
  await runs(`B ${versions.second}`, startLimitMs)
  say(
    `a kernel that stands still is started again by the hardware watchdog; healthy ${Math.round((performance.now() - startedMs) / 1000)} s later`,
  )
}

async function end({ folder }: Bench): Promise<void> {
  if (machine === undefined) return
  await box().cut()
  rmSync(join(folder, 'box.img'), { force: true })
}

/** The appliance image on an emulated PC. */
export const imageTrials: readonly Trial[] = [
  { name: 'image: it is made, with its updates', play: make },
  { name: 'image: it boots, is set up by first-boot.txt, and answers health', play: firstBoot },
  { name: 'image: read-only root, state over the whole disk, watchdog, name, keys alone', play: asPromised },
  { name: 'image: a floor is opened', play: openFloor },
  { name: 'image: an update changes the slot under load, and every acknowledged event is there', play: update },
  { name: 'image: a system that never becomes healthy gives its place back', play: brokenUpdate },
  { name: 'image: a system that cannot even be read gives its place back', play: unreadableUpdate },
  { name: 'image: an update that another key has signed is refused', play: strangerUpdate },
  { name: 'image: a kernel that stands still is reset by the hardware watchdog', play: watchdog },
  {
    name: `image: ${cuts} power cuts under load, half of them during an update, lose nothing acknowledged`,
    play: powerCuts,
  },
  { name: 'image: the machine goes off', play: end },
]
