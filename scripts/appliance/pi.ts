import { existsSync, mkdirSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { makeBundle } from '../image/bundle.ts'
import { keysOf } from '../image/keys.ts'
import { makePiDisk, packKernel } from '../image/pi.ts'
import { packRoot } from '../image/root.ts'
import { makeImageTree } from '../image.ts'
import { type Bench, holds, run, Skipped, type Trial } from './trial.ts'

const sectorBytes = 512
const wanted = ['boot', 'kernel-a', 'kernel-b', 'root-a', 'root-b', 'state'].map((name) => `gatehouse-${name}`)

type Place = { readonly name: string; readonly start: number; readonly size: number }

const diskOf = (folder: string) => join(folder, 'pi.img')

async function make({ folder, say }: Bench): Promise<void> {
  const why = whyNoPi()
  if (why !== undefined) throw new Skipped(why)
  const keys = await keysOf({})
  const work = join(folder, 'pi')
  const squashfs = join(work, 'root.squashfs')
  const tree = await makeImageTree(work, keys, 'pi')
  await packRoot(tree, '1.0', squashfs, true)
  const kernel = await packKernel({ work, tree })
  await makePiDisk({ work, squashfs, kernel, to: diskOf(folder) })
  const bundle = join(folder, 'pi.raucb')
  await makeBundle({ work, squashfs, kernel, version: '1.0', keys, to: bundle })
  const info = await run('rauc', ['info', `--keyring=${keys.cert}`, bundle])
  holds(/gatehouse-arm64-pi/.test(info) && /\[kernel\]/.test(info) && /\[rootfs\]/.test(info), info)
  say(`the root of a Raspberry Pi has ${readFileSync(squashfs).length >> 20} MiB`)
}

/** Whether this machine can make the tree: it runs programs of arm64 in it. */
function whyNoPi(): string | undefined {
  if (process.getuid?.() !== 0) return 'it needs root, to make the image'
  if (process.arch === 'arm64') return undefined
  const known = '/proc/sys/fs/binfmt_misc'
  if (existsSync(known) && readdirSync(known).some((name) => /aarch64/.test(name))) return undefined
  return 'this machine runs no programs of arm64 (qemu-user-static and binfmt-support)'
}

/** Checks the files that a Pi reads before Linux runs, and the files that Linux finds by name. */
async function looks({ folder }: Bench): Promise<void> {
  if (!existsSync(diskOf(folder))) throw new Skipped('there is no image')
  const table = JSON.parse(await run('sfdisk', ['--json', diskOf(folder)])) as {
    partitiontable: { partitions: Place[] }
  }
  const places = table.partitiontable.partitions
  holds(places.map(({ name }) => name).join() === wanted.join(), `its partitions are ${places.map(({ name }) => name)}`)
  const fileIn = (partition: number, name: string) => {
    const at = `${diskOf(folder)}@@${(places[partition - 1]?.start ?? 0) * sectorBytes}`
    return run('mtype', ['-i', at, `::${name}`])
  }
  // autoboot.txt counts partitions from 1.
  const choice = await fileIn(1, 'autoboot.txt')
  holds(/\[all\]\ntryboot_a_b=1\nboot_partition=2\n\[tryboot\]\nboot_partition=3\n/.test(choice), choice)
  const line = await fileIn(2, 'cmdline.txt')
  holds(/root=PARTLABEL=gatehouse-root-a .*rauc\.slot=A /.test(line), line)
  for (const name of (await fileIn(2, 'config.txt')).matchAll(/^(?:kernel=|initramfs )(\S+)/gm)) {
    holds((await fileIn(2, name[1] ?? '')).length > 1 << 20, `${name[1]} is no kernel and no initramfs`)
  }
  for (const name of ['start4.elf', 'fixup4.dat', 'bcm2711-rpi-4-b.dtb', 'cmdline-b.txt']) await fileIn(2, name)
  const root = join(folder, 'pi-root.squashfs')
  const rootA = places[3]
  const cut = [
    'bs=1M',
    `skip=${((rootA?.start ?? 0) * sectorBytes) >> 20}`,
    `count=${((rootA?.size ?? 0) * sectorBytes) >> 20}`,
  ]
  await run('dd', [`if=${diskOf(folder)}`, `of=${root}`, ...cut, 'status=none'])
  const inside = join(folder, 'pi-root')
  mkdirSync(inside, { recursive: true })
  const files = ['usr/bin/gatehouse', 'usr/lib/gatehouse-appliance/tryboot', 'etc/rauc/system.conf']
  await run('unsquashfs', ['-q', '-n', '-f', '-d', inside, root, ...files])
  holds(readFileSync(join(inside, files[0] ?? '')).readUInt16LE(18) === 0xb7, 'gatehouse is not for arm64')
  const system = readFileSync(join(inside, 'etc/rauc/system.conf'), 'utf8')
  for (const [, label] of system.matchAll(/by-partlabel\/(\S+)/g)) {
    holds(wanted.includes(label ?? ''), `RAUC writes to ${label}, which the disk has not`)
  }
  holds((statSync(join(inside, files[1] ?? '')).mode & 0o111) === 0o111, 'tryboot cannot be run')
}

/** Trials of the image of a Raspberry Pi 4, as far as they need no Pi. */
export const piTrials: readonly Trial[] = [
  { name: 'pi: the image and its update are made', play: make },
  { name: 'pi: a Raspberry Pi finds on it what it starts from, and Linux its partitions', play: looks },
]
