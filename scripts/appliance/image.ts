import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { copyDisk, putOnBootPartition } from '../image/disk.ts'
import { demandTools } from '../image/tools.ts'
import { brokenUpdate, floorOpens, strangerUpdate, unreadableUpdate, update } from './box-trials.ts'
import { makeImageAndUpdates, stickName } from './image-make.ts'
import { diskOf, keep, keyOf, newMachine, onTheBox, throwAway } from './kept-box.ts'
import { whyNoMachine } from './machine.ts'
import { cuts, powerCuts } from './power-cuts.ts'
import {
  anotherStart,
  box,
  healthy,
  runs,
  secondsSince,
  startLimitMs,
  startNumber,
  systemNow,
  until,
} from './the-box.ts'
import { type Bench, holds, run, Skipped, type Trial } from './trial.ts'

/** Runs once for a folder; a folder from an earlier run has the image. */
async function make({ folder }: Bench): Promise<void> {
  const why = whyNoMachine()
  if (why !== undefined) throw new Skipped(why)
  if (existsSync(join(folder, stickName))) return
  try {
    demandTools('amd64')
  } catch (error) {
    throw new Skipped((error as Error).message)
  }
  await makeImageAndUpdates(folder)
}

async function firstBoot({ folder, say }: Bench): Promise<void> {
  if (!existsSync(join(folder, stickName))) throw new Skipped('there is no image')
  await throwAway(folder)
  const key = keyOf(folder)
  for (const old of [key, `${key}.pub`]) rmSync(old, { force: true })
  await run('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-f', key])
  const disk = diskOf(folder)
  await copyDisk(join(folder, 'appliance.img'), disk, 8)
  const settings = [
    ...['siteId=dc-7', 'admin=ada', 'warehouse=Hall 1', 'timezone=Europe/Berlin'],
    ...['# a file from Windows', `sshKey=${readFileSync(`${key}.pub`, 'utf8').trim()}`],
  ]
  writeFileSync(join(folder, 'first-boot.txt'), settings.join('\r\n'))
  await putOnBootPartition(disk, join(folder, 'first-boot.txt'), 'first-boot.txt')
  await newMachine(folder)
  const startedMs = performance.now()
  await box().start()
  keep(folder)
  await until('ssh', () => box().must('true'))
  say(`ssh ${secondsSince(startedMs)} s after power came (emulated)`)
  await until('health', healthy)
  say(`healthy ${secondsSince(startedMs)} s after power came, first set-up included (emulated)`)
  const times = await box().must(
    'systemctl is-system-running --wait > /dev/null || true; systemd-analyze time',
    startLimitMs,
  )
  say(times.split('\n')[0] ?? '')
}

/** Checks the settings that first-boot.txt asked for, and the promises of the recipe. */
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
  await until('the slot is kept', () => box().must('test -e /state/update/healthy-A'))
}

async function watchdog({ say }: Bench): Promise<void> {
  const [before, system] = [await startNumber(), await systemNow()]
  const startedMs = performance.now()
  await box().must('sysctl -q -w kernel.panic=0; (sleep 2; echo c > /proc/sysrq-trigger) > /dev/null 2>&1 &')
  await anotherStart(before)
  await runs(system)
  say(`a kernel that stands still is started again; healthy ${secondsSince(startedMs)} s later`)
}

/**
 * Trials of the appliance image on an emulated PC. With GATEHOUSE_APPLIANCE_FOLDER, one trial can be played alone once the first
 * four have been. At the end, the box is saved as it is.
 */
export const imageTrials: readonly Trial[] = [
  { name: 'image: it is made, with its updates', play: make },
  { name: 'image: it boots, is set up by first-boot.txt, and answers health', play: firstBoot },
  onTheBox('image: read-only root, state over the whole disk, watchdog, name, keys alone', asPromised),
  onTheBox('image: a floor is opened', floorOpens),
  onTheBox('image: an update changes the slot under load, and every acknowledged event is there', update),
  onTheBox('image: a system that never becomes healthy gives its place back', brokenUpdate),
  onTheBox('image: a system that cannot even be read gives its place back', unreadableUpdate),
  onTheBox('image: an update that another key has signed is refused', strangerUpdate),
  onTheBox('image: a kernel that stands still is reset by the hardware watchdog', watchdog),
  onTheBox(`image: ${cuts} power cuts under load, half of them during an update, lose nothing acknowledged`, powerCuts),
  { name: 'image: the machine goes off', play: ({ folder }) => throwAway(folder) },
]
