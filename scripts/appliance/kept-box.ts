import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { FloorState } from './floor.ts'
import { stickName } from './image-make.ts'
import { Machine, type Place } from './machine.ts'
import {
  floorState,
  hasBox,
  healthy,
  made,
  openFloor,
  secondsSince,
  switchOff,
  take,
  theFloor,
  until,
} from './the-box.ts'
import { type Bench, Skipped, type Trial } from './trial.ts'

/** State in `box.json` of the folder, from which the next run continues. */
type Kept = { readonly place: Place; readonly floor?: FloorState; readonly cuts: number }

const kept = (folder: string) => join(folder, 'box.json')
export const keyOf = (folder: string): string => join(folder, 'admin-key')
export const diskOf = (folder: string): string => join(folder, 'box.img')

let machine: Machine | undefined

/** A machine with the disk of the folder, in place of the one before. */
export async function newMachine(folder: string): Promise<void> {
  await switchOff()
  machine = await Machine.of({ folder, disk: diskOf(folder), key: keyOf(folder), stick: join(folder, stickName) })
  take(machine)
}

/** A trial on the emulated box as the trials before have left it, in this run or in an earlier one. */
export function onTheBox(name: string, play: Trial['play']): Trial {
  return {
    name,
    play: async (bench) => {
      await goOn(bench)
      try {
        await play(bench)
      } finally {
        if (floorState() !== undefined) await theFloor().stop()
        keep(bench.folder)
      }
    },
  }
}

async function goOn({ folder, say }: Bench): Promise<void> {
  if (machine !== undefined && hasBox()) return
  if (!existsSync(kept(folder))) throw new Skipped('no box was set up in this folder (GATEHOUSE_APPLIANCE_FOLDER)')
  const { place, floor, cuts } = JSON.parse(readFileSync(kept(folder), 'utf8')) as Kept
  const needs = { folder, disk: diskOf(folder), key: keyOf(folder), stick: join(folder, stickName) }
  machine = await Machine.of(needs, place)
  take(machine)
  made.cuts = cuts
  if (floor !== undefined) openFloor(floor)
  const startedMs = performance.now()
  await machine.start()
  await until('health', healthy)
  say(`healthy ${secondsSince(startedMs)} s after power came`)
}

export function keep(folder: string): void {
  if (machine === undefined) return
  const floor = floorState()
  const state: Kept = { place: machine.place, cuts: made.cuts, ...(floor !== undefined && { floor }) }
  writeFileSync(kept(folder), JSON.stringify(state), { mode: 0o600 })
}

/** The emulated box goes off for good. */
export async function throwAway(folder: string): Promise<void> {
  if (machine !== undefined) await switchOff()
  machine = undefined
  const parts = readdirSync(folder).filter((name) => /^(box\.(img|json)|disk-\d+\.qcow2)$/.test(name))
  for (const name of parts) rmSync(join(folder, name))
}
