import { readdirSync } from 'node:fs'
import { readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { errorCode } from '../../platform/faults.ts'
import { makeFolder } from '../../platform/index.ts'
import type { ClipLost } from '../messages.ts'
import { type ClipTools, givenUpLoss, lostBecause, readSidecar } from './clip-loss.ts'
import { type ClipPlan, endOf } from './clip-making.ts'

/** A clip that an earlier run left, or that the database has not confirmed. */
export type Leftover = { readonly id: number; readonly hasVideo: boolean }

const factsName = /^(\d+)\.json$/

/** Says whether an earlier run left a clip in the folder. Throws when it cannot be read. */
export function hasLeftovers(folder: string): boolean {
  try {
    return readdirSync(folder).some((name) => factsName.test(name))
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return false
    throw error
  }
}

/**
 * Lists the clips that an earlier run left in the folder, and removes files that it had begun to write. Call it before any camera
 * starts, so that clips of this run are not among them. Rejects when the folder cannot be read.
 */
export async function listLeftovers({ folder }: Pick<ClipTools, 'folder'>): Promise<Leftover[]> {
  await makeFolder(folder)
  const names = new Set(await readdir(folder))
  for (const name of names) if (/^\d+(\.redacted-\d+)?\.(mp4|png|json)\.part$/.test(name)) await rm(join(folder, name))
  return [...names].flatMap((name) => {
    const id = factsName.exec(name)?.[1]
    return id ? { id: Number(id), hasVideo: names.has(`${id}.ts.part`) || names.has(`${id}.mp4`) } : []
  })
}

/**
 * Returns the plan of a leftover's clip. Returns its loss when it has no video or was given up. After it was given up,
 * its files may still exist. Rejects when `ID.json` cannot be read.
 */
export async function readLeftover(tools: ClipTools, { id, hasVideo }: Leftover): Promise<ClipPlan | ClipLost> {
  const { facts, endAt = null, ending, givenUp, ...beginnings } = await readSidecar(tools, id)
  if (givenUp) return givenUpLoss(facts, givenUp)
  if (!hasVideo) return { ...lostBecause(facts, 'nothing-left'), ...endOf({ endAt }) }
  return { facts, bounds: { ...beginnings, endAt }, ending: ending ?? { closedBy: 'restart', peakScore: null } }
}
