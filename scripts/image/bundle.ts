import { chmodSync, copyFileSync, linkSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { root } from '../build/inputs.ts'
import type { Keys } from './keys.ts'
import { run } from './run.ts'

/** Makes the signed update around a root. */
export async function makeBundle(order: {
  readonly work: string
  readonly squashfs: string
  /** The kernel partition of a Raspberry Pi. */
  readonly kernel?: string
  readonly version: string
  readonly keys: Keys
  readonly to: string
  /** `plain` for a kernel without dm-verity; the boxes take verity alone. */
  readonly format?: 'verity' | 'plain'
}): Promise<void> {
  const content = join(order.work, 'bundle')
  rmSync(content, { recursive: true, force: true })
  mkdirSync(content)
  linkSync(order.squashfs, join(content, 'root.img'))
  copyFileSync(join(root, 'firmware/bundle/hook'), join(content, 'hook'))
  chmodSync(join(content, 'hook'), 0o755)
  const manifest = `[update]
compatible=${order.kernel === undefined ? 'gatehouse-amd64' : 'gatehouse-arm64-pi'}
version=${order.version}

[bundle]
format=${order.format ?? 'verity'}

[hooks]
filename=hook

[image.rootfs]
filename=root.img
hooks=post-install
${order.kernel === undefined ? '' : '\n[image.kernel]\nfilename=kernel.img\nhooks=post-install\n'}`
  if (order.kernel !== undefined) linkSync(order.kernel, join(content, 'kernel.img'))
  writeFileSync(join(content, 'manifest.raucm'), manifest)
  rmSync(order.to, { force: true })
  // The content is packed already.
  const packing = '--mksquashfs-args=-noD -noF'
  await run('rauc', ['bundle', packing, '--cert', order.keys.cert, '--key', order.keys.key, content, order.to])
}
