import { randomBytes } from 'node:crypto'
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { root } from '../build/inputs.ts'
import { makeBundle } from '../image/bundle.ts'
import { makeDisk } from '../image/disk.ts'
import { type Keys, keysOf } from '../image/keys.ts'
import { packRoot } from '../image/root.ts'
import { makeImageTree } from '../image.ts'
import { editionOf } from '../package/deb.ts'
import { run } from './trial.ts'
import { renumber } from './versions.ts'

/**
 * The image and its updates for the trials. Update `third` is as good as `second`, and `broken` never becomes healthy. Update
 * `unreadable` holds nothing that can be started. Another key signs `stranger`.
 */
export const versions = { first: '1.0', second: '2.0', broken: '3.0', unreadable: '3.5', third: '4.0' } as const
export type Update = Exclude<keyof typeof versions, 'first'> | 'stranger'

export const bundleName = (update: Update): string => `${update}.raucb`
/** The volume with the updates, which a box sees as a stick. */
export const stickName = 'stick.img'

/** Makes `appliance.img`, and the stick with all updates, in the folder. */
export async function makeImageAndUpdates(folder: string): Promise<void> {
  const keys = await keysOf({})
  const work = join(folder, 'image')
  const stick = join(work, 'stick')
  const tree = await makeImageTree(work, keys)
  mkdirSync(stick)
  const squashfs = join(work, 'root.squashfs')
  // Ten minutes are too long for a trial of trials, and too short for a start in an emulator.
  dropIn(tree, 'gatehouse-slot', 'quick', '[Service]\nEnvironment=HEALTHY_WITHIN_SECONDS=1800 TRIAL_SECONDS=20\n')
  dropIn(tree, 'gatehouse', 'emulated', '[Service]\nWatchdogSec=15min\nTimeoutStartSec=25min\n')
  await packRoot(tree, versions.first, squashfs, true)
  await makeDisk({ work, squashfs, to: join(folder, 'appliance.img') })

  const pack = async (update: Exclude<Update, 'stranger'>, from = tree) => {
    await packRoot(from, versions[update], squashfs, true)
    await makeBundle({ work, squashfs, version: versions[update], keys, to: join(stick, bundleName(update)) })
  }
  const { version } = editionOf(root)
  const next = version.replace(/\d$/, (digit) => String((Number(digit) + 1) % 10))
  renumber(join(tree, 'usr/bin/gatehouse'), version, next)
  await pack('second')
  await pack('third')
  dropIn(tree, 'gatehouse', 'broken', '[Service]\nExecStart=\nExecStart=/bin/false\n')
  dropIn(tree, 'gatehouse-slot', 'quick', '[Service]\nEnvironment=HEALTHY_WITHIN_SECONDS=60\n')
  await pack('broken')
  await pack('unreadable', emptyTree(work))
  await signAsStranger({
    work,
    keys,
    from: join(stick, bundleName('unreadable')),
    to: join(stick, bundleName('stranger')),
  })
  await run('mke2fs', ['-q', '-t', 'ext4', '-L', 'updates', '-d', stick, join(folder, stickName), '4G'])
  rmSync(work, { recursive: true })
}

function dropIn(tree: string, unit: string, name: string, text: string): void {
  const folder = join(tree, `etc/systemd/system/${unit}.service.d`)
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, `${name}.conf`), text)
}

/** A root that passes the rehearsal, and has no kernel. */
function emptyTree(work: string): string {
  const tree = join(work, 'empty')
  for (const folder of ['etc', 'usr/bin']) mkdirSync(join(tree, folder), { recursive: true })
  writeFileSync(join(tree, 'usr/bin/gatehouse'), '#!/bin/sh\nexit 0\n', { mode: 0o755 })
  writeFileSync(join(tree, 'filling'), randomBytes(1 << 20))
  return tree
}

async function signAsStranger(order: { work: string; keys: Keys; from: string; to: string }): Promise<void> {
  const [key, cert] = [join(order.work, 'stranger-key.pem'), join(order.work, 'stranger-cert.pem')]
  const pair = ['-newkey', 'rsa:2048', '-keyout', key, '-out', cert]
  await run('openssl', ['req', '-x509', '-nodes', ...pair, '-subj', '/CN=stranger'])
  const known = [`--keyring=${order.keys.cert}`, `--signing-keyring=${cert}`]
  await run('rauc', ['resign', ...known, `--cert=${cert}`, `--key=${key}`, order.from, order.to])
}
