import { randomBytes } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { locateFfmpeg } from '../../src/platform/ffmpeg.ts'
import { canEncode, type Footage, footage } from '../../test/support/footage.ts'
import { type RtspServer, startRtspServer } from '../../test/support/rtsp/server.ts'

/** Seconds; short, so that clips are short too and come often. */
export const clipSettings = { preRecordSeconds: 2, postRecordSeconds: 1, cooldownSeconds: 1 } as const

/** By their ids in the config, with the name of the stream and the slots that they look at. */
export const demoCameras = {
  dock: { id: 1, name: 'Dock door', slots: ['A-01', 'A-02'] },
  aisle: { id: 2, name: 'Aisle C', slots: ['C-01', 'C-02'] },
} as const

const username = 'gatehouse'
const noticeAfterMs = 500

/** Two simulated cameras that speak RTSP on 127.0.0.1 and ask for a password. */
export type Cameras = {
  readonly rtsp: RtspServer
  /** 20 s in which a person and a forklift cross the hall. */
  readonly crossing: Footage
  /** The same hall without anybody. */
  readonly empty: Footage
  /** The part of the password that stays as it is however it is encoded. */
  readonly secret: string
  /** `cameras` of the gateway's config. */
  readonly config: readonly Record<string, unknown>[]
}

export type CamerasOrder = {
  /** Gets the file with the password. */
  readonly folder: string
  /** The first scene at the dock door; the aisle is always empty. */
  readonly atDock: 'crossing' | 'empty'
  readonly owner: string
  readonly viewers: readonly string[]
  readonly print: (line: string) => void
}

/** Starts both. The footage is made at first use, which takes some seconds and is reported. */
export async function openCameras({ folder, atDock, owner, viewers, print }: CamerasOrder): Promise<Cameras> {
  const [crossing, empty] = await makeFootage(print)
  const secret = randomBytes(12).toString('hex')
  // With marks that have a meaning in URLs, lists of files and shells.
  const password = `p@ss' ${secret}/%`
  const rtsp = await startRtspServer({
    streams: { dock: atDock === 'crossing' ? crossing : empty, aisle: empty },
    auth: { username, password, scheme: 'digest' },
  })
  const passwordFile = join(folder, 'camera-password')
  writeFileSync(passwordFile, `${password}\n`, { mode: 0o600 })
  const config = Object.entries(demoCameras).map(([stream, camera]) => ({
    ...{ ...camera, url: rtsp.url(stream), username, passwordFile, owner, viewers },
    motion: clipSettings,
  }))
  return { rtsp, crossing, empty, secret, config }
}

async function makeFootage(print: (line: string) => void): Promise<[crossing: Footage, empty: Footage]> {
  const notice = setTimeout(() => print('drawing what the cameras see, once and for all …'), noticeAfterMs)
  try {
    const program = encoder()
    return await Promise.all([footage('crossing', program), footage('empty', program)])
  } finally {
    clearTimeout(notice)
  }
}

/** Some distributions ship an ffmpeg that can decode H.264 but not encode it. */
function encoder(): string {
  const system = locateFfmpeg().path
  return canEncode('h264', system) ? system : locateFfmpeg({ env: { ...process.env, PATH: '' } }).path
}
