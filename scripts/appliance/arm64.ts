import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { buildBinary } from '../build.ts'
import { tableOf } from '../demo-parts/steps.ts'
import { playStory } from '../demo-parts/story.ts'
import { suite } from './suite.ts'
import { type Bench, run, Skipped, type Trial } from './trial.ts'

const emulator = 'qemu-aarch64-static'
/** An emulated processor is slower by far, and this machine may have other work. */
const patience = 10

/** The arm64 binary on another processor: emulated, with the C libraries of an arm64 Debian. */
async function floorStory({ folder, say }: Bench): Promise<void> {
  if (process.arch === 'arm64')
    throw new Skipped('this machine needs no emulator: the other trials are of its arm64 binary')
  await run(emulator, ['--version'])
  const { path } = await buildBinary({ arch: 'arm64' })
  const libraries = join(folder, 'arm64')
  rmSync(libraries, { recursive: true, force: true })
  const packages = '--include=libc6,libstdc++6,libgcc-s1'
  await run('mmdebstrap', ['--variant=extract', '--architectures=arm64', packages, suite, libraries])
  const command = join(folder, 'gatehouse-arm64')
  writeFileSync(command, `#!/bin/sh\nexec ${emulator} -L '${libraries}' '${path}' "$@"\n`, { mode: 0o755 })
  const played = await playStory({ command, bare: false, cameras: false, patience, print: () => undefined })
  for (const line of tableOf(played).split('\n')) say(line)
}

export const arm64Trials: readonly Trial[] = [
  { name: "package: the arm64 binary plays the floor's story, emulated", play: floorStory },
]
