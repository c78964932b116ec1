import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { makeBundle } from '../image/bundle.ts'
import { keysOf } from '../image/keys.ts'
import { brokenUpdate, floorOpens, unreadableUpdate, update } from './box-trials.ts'
import { ContainerBox } from './container-box.ts'
import { bundleName, stickName, type Update, versions } from './image-make.ts'
import { whyNoMachine } from './machine.ts'
import { cuts, powerCuts } from './power-cuts.ts'
import {
  anotherStart,
  box,
  floorState,
  healthy,
  install,
  runs,
  secondsSince,
  startNumber,
  switchOff,
  systemNow,
  take,
  theFloor,
  until,
} from './the-box.ts'
import { type Bench, holds, run, Skipped, type Trial } from './trial.ts'

const updates: Exclude<Update, 'stranger'>[] = ['second', 'third', 'broken', 'unreadable']

const placeOf = (folder: string) => join(folder, 'power')

/** The image of the emulated box, on a separate disk and in a container. */
async function setUp({ folder, say }: Bench): Promise<void> {
  const why = whyNoMachine() ?? whyNoDisk()
  if (why !== undefined) throw new Skipped(why)
  if (!existsSync(join(folder, stickName))) throw new Skipped('there is no image ("image: it is made" comes first)')
  await switchOff()
  const place = placeOf(folder)
  rmSync(place, { recursive: true, force: true })
  mkdirSync(place, { recursive: true })
  const stick = join(folder, 'plain-stick.img')
  if (!isNewer(stick, join(folder, stickName))) await makePlainBundles(folder, stick)
  const firstBoot = join(place, 'first-boot.txt')
  writeFileSync(firstBoot, 'siteId=dc-7\nadmin=ada\nwarehouse=Hall 1\ntimezone=Europe/Berlin\n')
  const needs = { folder: place, image: join(folder, 'appliance.img'), firstBoot, stick }
  take(new ContainerBox(needs))
  const startedMs = performance.now()
  await box().start()
  await until('health', healthy)
  say(`healthy ${secondsSince(startedMs)} s after power came, first set-up included (in a container)`)
  await runs(`A ${versions.first}`)
  await floorOpens()
}

const isNewer = (file: string, than: string) => existsSync(file) && statSync(file).mtimeMs > statSync(than).mtimeMs

/** The same updates without dm-verity, which the kernel of this machine may not know. */
async function makePlainBundles(folder: string, stick: string): Promise<void> {
  const updatesFolder = join(placeOf(folder), 'updates')
  mkdirSync(updatesFolder)
  const work = join(placeOf(folder), 'work')
  const keys = await keysOf({})
  for (const update of updates) {
    rmSync(work, { recursive: true, force: true })
    mkdirSync(work)
    const script = 'mount -o ro,loop "$1" /mnt && unsquashfs -q -n -d "$2" "/mnt/$3" root.img'
    const from = [join(folder, stickName), join(work, 'in'), bundleName(update)]
    await run('unshare', ['-m', 'sh', '-euc', script, 'sh', ...from])
    const to = join(updatesFolder, bundleName(update))
    const squashfs = join(work, 'in/root.img')
    await makeBundle({ work, squashfs, version: versions[update], keys, to, format: 'plain' })
  }
  rmSync(work, { recursive: true })
  await run('mke2fs', ['-q', '-t', 'ext4', '-L', 'updates', '-d', updatesFolder, `${stick}.part`, '4G'])
  renameSync(`${stick}.part`, stick)
  rmSync(updatesFolder, { recursive: true })
}

function whyNoDisk(): string | undefined {
  if (!existsSync('/dev/fuse') || !existsSync('/dev/loop-control')) return 'there is no FUSE or no loop device'
  try {
    execFileSync('qemu-storage-daemon', ['--version'], { stdio: 'ignore' })
  } catch {
    return 'there is no qemu-storage-daemon'
  }
  return undefined
}

/** A new system that loses its power three times before it has proved itself: the fourth start is of the one before. */
async function cutsInTrial({ say }: Bench): Promise<void> {
  const system = await systemNow()
  const other = system.startsWith('A') ? 'B' : 'A'
  theFloor().start()
  const before = await startNumber()
  const said = await install('third')
  holds(/the box starts from it$/m.test(said), said)
  await anotherStart(before)
  for (const time of [1, 2, 3]) {
    await until(`start ${time} of the new system`, async () => {
      const now = await systemNow()
      holds(now === `${other} ${versions.third}`, `${now} runs`)
      await healthy()
    })
    await theFloor().more(3, 120_000)
    await box().cut()
    await box().start()
  }
  await runs(system)
  await theFloor().stop()
  await theFloor().allThere()
  say(`back on ${system}, all ${theFloor().acknowledged.size} acknowledged events there`)
}

function inTheContainer(name: string, play: Trial['play']): Trial {
  return {
    name,
    play: async (bench) => {
      if (!(box() instanceof ContainerBox)) throw new Skipped('the box was not set up')
      try {
        await play(bench)
      } finally {
        if (floorState() !== undefined) await theFloor().stop()
      }
    },
  }
}

async function end({ folder }: Bench): Promise<void> {
  await switchOff()
  rmSync(placeOf(folder), { recursive: true, force: true })
}

/** The system of the image on a disk whose power can be cut, at the speed of this machine. The first and the last belong to each of them. */
export const powerTrials: readonly Trial[] = [
  { name: 'power: a box is set up in a container, on a disk that can lose its power', play: setUp },
  inTheContainer('power: an update changes the slot under load, and every acknowledged event is there', update),
  inTheContainer('power: a system that never becomes healthy gives its place back', brokenUpdate),
  inTheContainer('power: a system that cannot even be read gives its place back', unreadableUpdate),
  inTheContainer('power: a new system that loses its power three times in its trial gives its place back', cutsInTrial),
  inTheContainer(
    `power: ${cuts} power cuts under load, half of them during an update, lose nothing acknowledged`,
    powerCuts,
  ),
  { name: 'power: the box goes off', play: end },
]
