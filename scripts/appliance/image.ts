import { copyFileSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { root } from '../build/inputs.ts'
import type { Account } from '../demo-parts/client.ts'
import { makeBundle } from '../image/bundle.ts'
import { copyDisk, makeDisk, putOnBootPartition } from '../image/disk.ts'
import { type Keys, keysOf } from '../image/keys.ts'
import { packRoot } from '../image/root.ts'
import { makeImageTree } from '../image.ts'
import { editionOf } from '../package/deb.ts'
import { Floor } from './floor.ts'
import { Machine, whyNoMachine } from './machine.ts'
import { type Bench, holds, run, Skipped, type Trial } from './trial.ts'
import { renumber } from './versions.ts'

/** An emulated start takes one to two minutes on two processors. */
const startLimitMs = 480_000
const cuts = Number(process.env['GATEHOUSE_POWER_CUTS'] ?? 20)
const slots = 40

const versions = { first: '1.0', second: '2.0', broken: '3.0', third: '4.0' } as const
type Name = keyof typeof versions

let machine: Machine | undefined
let floor: Floor | undefined
let bundles = ''

const box = (): Machine => {
  if (!machine) throw new Skipped('there is no machine')
  return machine
}
const theFloor = (): Floor => {
  if (!floor) throw new Skipped('the box was not set up')
  return floor
}
const bundleOf = (name: Name): string => join(bundles, `${name}.raucb`)

/** The image, and three updates: a new version, one that never becomes healthy, and one more. */
async function make({ folder }: Bench): Promise<void> {
  const why = whyNoMachine()
  if (why !== undefined) throw new Skipped(why)
  bundles = join(folder, 'bundles')
  mkdirSync(bundles)
  const keys = await keysOf({})
  const work = join(folder, 'image')
  const tree = await makeImageTree(work, keys)
  const squashfs = join(work, 'root.squashfs')
  await packRoot(tree, versions.first, squashfs, true)
  await makeDisk({ work, squashfs, to: join(folder, 'appliance.img') })

  const { version } = editionOf(root)
  const next = version.replace(/\d$/, (digit) => String((Number(digit) + 1) % 10))
  renumber(join(tree, 'usr/bin/gatehouse'), version, next)
  await pack(tree, work, keys, 'second')
  await pack(tree, work, keys, 'third')
  const drop = join(tree, 'usr/lib/systemd/system/gatehouse.service.d/broken.conf')
  writeFileSync(drop, '[Service]\nExecStart=\nExecStart=/bin/false\n')
  const quick = join(tree, 'etc/systemd/system/gatehouse-slot.service.d')
  mkdirSync(quick)
  writeFileSync(join(quick, 'quick.conf'), '[Service]\nEnvironment=HEALTHY_WITHIN_SECONDS=60\n')
  await pack(tree, work, keys, 'broken')
  rmSync(work, { recursive: true })
}

async function pack(tree: string, work: string, keys: Keys, name: Name): Promise<void> {
  const squashfs = join(work, 'update.squashfs')
  await packRoot(tree, versions[name], squashfs, true)
  await makeBundle({ work, squashfs, version: versions[name], keys, to: bundleOf(name) })
}

async function firstBoot({ folder, say }: Bench): Promise<void> {
  if (bundles === '') throw new Skipped('there is no image')
  const key = join(folder, 'admin-key')
  await run('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-f', key])
  const disk = join(folder, 'box.img')
  await copyDisk(join(folder, 'appliance.img'), disk, 8)
  const settings = [
    ...['siteId=dc-7', 'admin=ada', 'warehouse=Hall 1', 'timezone=Europe/Berlin'],
    ...['# a file from Windows', `sshKey=${readFileSync(`${key}.pub`, 'utf8').trim()}`],
  ]
  writeFileSync(join(folder, 'first-boot.txt'), settings.join('\r\n'))
  await putOnBootPartition(disk, join(folder, 'first-boot.txt'), 'first-boot.txt')
  machine = await Machine.of(folder, disk, key)
  const startedMs = performance.now()
  await machine.start()
  await machine.until('ssh', () => box().must('true'), startLimitMs)
  await machine.until('health', healthy, startLimitMs)
  say(
    `healthy ${Math.round((performance.now() - startedMs) / 1000)} s after power came, first set-up included (emulated)`,
  )
  say((await box().must('systemd-analyze time')).trim().split('\n')[0] ?? '')
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
  const used = await box().must(
    'du -sm --exclude=/proc --exclude=/sys / 2> /dev/null | cut -f1; cat /etc/gatehouse-image',
  )
  say(`root and image: ${used.trim().split('\n').join(' MB, version ')}`)
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
  await theFloor().more(20, 60_000)
  await box().send(bundleOf('second'), '/state/update/second.raucb')
  const startedMs = performance.now()
  await box().must('/usr/lib/gatehouse-appliance/update /state/update/second.raucb', 500_000)
  await runs(`B ${versions.second}`, startLimitMs)
  await theFloor().more(5, 120_000)
  await theFloor().stop()
  await theFloor().allThere()
  say(
    `${theFloor().acknowledged.size} events acknowledged while it changed its system in ${Math.round((performance.now() - startedMs) / 1000)} s, all there`,
  )
}

async function brokenUpdate({ say }: Bench): Promise<void> {
  await box().send(bundleOf('broken'), '/state/update/broken.raucb')
  const startedMs = performance.now()
  await box().must('/usr/lib/gatehouse-appliance/update /state/update/broken.raucb', 500_000)
  await box().until(
    'the broken one runs',
    async () => holds((await slotNow()) === `A ${versions.broken}`, await slotNow()),
    startLimitMs,
  )
  await runs(`B ${versions.second}`, startLimitMs)
  await theFloor().allThere()
  say(`back on the old system ${Math.round((performance.now() - startedMs) / 1000)} s after the update began`)
}

async function strangerUpdate({ folder }: Bench): Promise<void> {
  const stranger = join(folder, 'stranger')
  mkdirSync(stranger)
  const [key, cert] = [join(stranger, 'key.pem'), join(stranger, 'cert.pem')]
  await run('openssl', [
    'req',
    '-x509',
    '-nodes',
    '-newkey',
    'rsa:2048',
    '-keyout',
    key,
    '-out',
    cert,
    '-subj',
    '/CN=stranger',
  ])
  const keyring = (await keysOf({})).cert
  const made = join(stranger, 'third.raucb')
  await run('rauc', [
    'resign',
    `--keyring=${keyring}`,
    `--cert=${cert}`,
    `--key=${key}`,
    `--signing-keyring=${cert}`,
    bundleOf('third'),
    made,
  ])
  await box().send(made, '/state/update/stranger.raucb')
  const said = await box().must('/usr/lib/gatehouse-appliance/update /state/update/stranger.raucb 2>&1 || echo refused')
  holds(/refused$/.test(said.trim()) && /signature|certificate/i.test(said), said)
}

/** Half of the cuts hit while an update is written. */
async function powerCuts({ say }: Bench): Promise<void> {
  await box().send(bundleOf('third'), '/state/update/third.raucb')
  await box().must('sync')
  const took: number[] = []
  for (let cut = 1; cut <= cuts; cut += 1) {
    const inUpdate = cut % 2 === 0
    theFloor().start()
    await theFloor().more(20, 180_000)
    if (inUpdate) {
      await box().must(
        'rm -f /run/update.log; systemd-run --quiet --unit=trial-update /usr/lib/gatehouse-appliance/update /state/update/third.raucb',
      )
      await box().until(
        'the slot is being written',
        () =>
          box().must(
            'rauc status > /dev/null; systemctl is-active -q trial-update; test "$(cut -d" " -f7 /sys/class/block/$(basename $(readlink -f /dev/disk/by-partlabel/gatehouse-root-a))/stat)" != ""; awk \'$7 > 20000 { found = 1 } END { exit !found }\' /sys/class/block/$(basename $(readlink -f /dev/disk/by-partlabel/gatehouse-root-a))/stat',
          ),
        180_000,
      )
    }
    await box().cut()
    const startedMs = performance.now()
    await box().start()
    await runs(await wantedAfter(), startLimitMs)
    took.push((performance.now() - startedMs) / 1000)
    await theFloor().stop()
    await theFloor().allThere()
    say(
      `cut ${cut}${inUpdate ? ', during an update' : ''}: back in ${Math.round(took.at(-1) ?? 0)} s, ${theFloor().acknowledged.size} acknowledged events there`,
    )
  }
  const verified = await box().must('gatehouse ledger verify --json', 300_000)
  holds(verified.includes('"ok":true'), verified)
}

/** An update that a cut has interrupted was not activated. */
const wantedAfter = (): Promise<string> => Promise.resolve(`B ${versions.second}`)

async function watchdog({ say }: Bench): Promise<void> {
  const id = await box().must('cat /proc/sys/kernel/random/boot_id')
  const startedMs = performance.now()
  await box().must('sysctl -q -w kernel.panic=0; (sleep 2; echo c > /proc/sysrq-trigger) > /dev/null 2>&1 &')
  await box().until(
    'another start',
    async () => holds((await box().must('cat /proc/sys/kernel/random/boot_id')) !== id, 'the same'),
    startLimitMs,
  )
  await runs(`B ${versions.second}`, startLimitMs)
  say(
    `a kernel that stands still is started again by the hardware watchdog; healthy ${Math.round((performance.now() - startedMs) / 1000)} s later`,
  )
}

async function end({ folder }: Bench): Promise<void> {
  if (machine === undefined) return
  const kept = process.env['GATEHOUSE_KEEP_CONSOLE']
  if (kept !== undefined) copyFileSync(box().console, kept)
  await box().cut()
  rmSync(join(folder, 'box.img'), { force: true })
}

/** The appliance image on an emulated PC. */
export const imageTrials: readonly Trial[] = [
  { name: 'image: it is made, with three updates', play: make },
  { name: 'image: it boots, is set up by first-boot.txt, and answers health', play: firstBoot },
  { name: 'image: read-only root, state over the whole disk, watchdog, name, keys alone', play: asPromised },
  { name: 'image: a floor is opened', play: openFloor },
  { name: 'image: an update changes the slot under load, and every acknowledged event is there', play: update },
  { name: 'image: a system that never becomes healthy gives its place back', play: brokenUpdate },
  { name: 'image: an update that another key has signed is refused', play: strangerUpdate },
  { name: 'image: a kernel that stands still is reset by the hardware watchdog', play: watchdog },
  {
    name: `image: ${cuts} power cuts under load, half of them during an update, lose nothing acknowledged`,
    play: powerCuts,
  },
  { name: 'image: the machine goes off', play: end },
]
