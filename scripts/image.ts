/**
 * `npm run image`: the appliance image, its update and the list of its Debian packages. They are
 * `dist/gatehouse-appliance_VERSION_BOX.img`, `.raucb` and `.cdx.json`. Needs root, Debian, and mmdebstrap squashfs-tools
 * grub-efi-amd64-bin grub-common mtools dosfstools fdisk rauc openssl.
 *
 * - `--box B`: amd64 (a PC with UEFI; the default) or pi (Raspberry Pi 4; on a PC it needs qemu-user-static and binfmt-support)
 * - `--version V`: version of the image; default: version of gatehouse and date of the commit
 * - `--cert FILE --key FILE`: signer of updates; default: a pair that is made once under dist/appliance-keys
 */
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { buildFolder, distFolder, root, say } from './build/inputs.ts'
import { buildBinary } from './build.ts'
import { makeBundle } from './image/bundle.ts'
import { debianSbom, packagesIn } from './image/debian-sbom.ts'
import { makeDisk } from './image/disk.ts'
import { type Keys, keysOf } from './image/keys.ts'
import { makePiDisk, packKernel } from './image/pi.ts'
import { archOf, type Box, makeTree, packRoot, suite } from './image/root.ts'
import { demandTools } from './image/tools.ts'
import { editionOf, makeDeb } from './package/deb.ts'

/** Makes the folder that becomes the root, in a work folder that is emptied before. */
export async function makeImageTree(work: string, keys: Keys, box: Box = 'amd64'): Promise<string> {
  const arch = archOf[box]
  rmSync(work, { recursive: true, force: true })
  mkdirSync(work, { recursive: true })
  const { path: binary } = await buildBinary({ arch })
  const deb = makeDeb({ arch, binary, to: work, work: join(work, 'deb'), isQuick: true })
  return makeTree({ box, work, deb, keys })
}

/** Version of gatehouse, and the day of its commit: a rebuild with newer Debian packages gets `--version`. */
export function usualVersion(): string {
  const { version, dateMs } = editionOf(root)
  return `${version}-${new Date(dateMs).toISOString().slice(0, 10).replaceAll('-', '')}`
}

if (import.meta.main) {
  const { values } = parseArgs({
    options: {
      ...{ version: { type: 'string' }, cert: { type: 'string' }, key: { type: 'string' } },
      box: { type: 'string', default: 'amd64' },
    },
  })
  try {
    const { box } = values
    if (box !== 'amd64' && box !== 'pi') throw new Error(`--box is amd64 or pi, not ${box}`)
    demandTools(box)
    const keys = await keysOf(values)
    const version = values.version ?? usualVersion()
    const work = join(buildFolder, `appliance-${box}`)
    const squashfs = join(work, 'root.squashfs')
    const tree = await makeImageTree(work, keys, box)
    await packRoot(tree, version, squashfs)
    const name = join(distFolder, `gatehouse-appliance_${version}_${box}`)
    if (box === 'pi') {
      const kernel = await packKernel({ work, tree })
      await makePiDisk({ work, squashfs, kernel, to: `${name}.img` })
      await makeBundle({ work, squashfs, kernel, version, keys, to: `${name}.raucb` })
    } else {
      await makeDisk({ work, squashfs, to: `${name}.img` })
      await makeBundle({ work, squashfs, version, keys, to: `${name}.raucb` })
    }
    writeFileSync(`${name}.cdx.json`, debianSbom(await packagesIn(tree), { version, suite }))
    rmSync(work, { recursive: true })
    say(`${name}.img, .raucb and .cdx.json made; updates are signed with ${keys.cert}`)
  } catch (error) {
    say((error as Error).message)
    process.exitCode = 1
  }
}
