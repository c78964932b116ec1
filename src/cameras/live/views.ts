import type { CameraConfig } from '../../config/index.ts'
import { AppError } from '../../errors/index.ts'
import { type Caller, identityOf, type OutSocket, type RequestOrigin } from '../../http/index.ts'
import { errorMessage } from '../../platform/faults.ts'
import type { Clock, Logger } from '../../platform/index.ts'
import type { Codec, FromCameras, LiveFormat, LivePicture } from '../../video/index.ts'
import type { ConfiguredCameras } from '../configured.ts'
import type { CamerasLink } from '../detections/recorder.ts'
import type { Watched } from '../watched.ts'
import { newPace, type Pace, type PaceLimits, pace, paceLimits } from './pace.ts'
import type { ViewBook } from './view-book.ts'

/** Close codes of the contract. Those of a refused handshake are 4000 + HTTP status. */
const codes = {
  signedOut: 4401,
  notFound: 4404,
  tooSlow: 4408,
  tooMany: 4429,
  noPictures: 4503,
  stopping: 1001,
} as const

/** Views at once: of one caller, and of all. */
export const mostViews = { ofOneCaller: 16, ofAll: 64 } as const
/** Interval of checks whether a viewer may still see the camera; every reload checks too. */
const recheckMs = 3000
/** A camera that was just connected may take this long for its first picture. */
const firstPictureMs = 20_000
/** A group of pictures that is kept for the next viewer has at most this size. */
const mostGroupBytes = 48 * 1024 * 1024

export type NewView = {
  readonly cctvId: number
  readonly format: LiveFormat
  /** Codecs of `mpegts` that the viewer can play. */
  readonly codecs: readonly Codec[]
  readonly by: RequestOrigin
  /** Verifies the caller again. Rejects with AppError when the sign-in has ended. */
  readonly callerNow: () => Promise<Caller>
}

type Asked = Pick<NewView, 'cctvId' | 'by'>

type Viewer = {
  readonly view: NewView
  readonly socket: OutSocket
  readonly feed: Feed
  pace: Pace
  hasPicture: boolean
  /** Called when the view has ended, in this order. */
  readonly ends: (() => void)[]
}

/** The pictures of one camera in one format, as the cameras thread sends them. */
type Feed = {
  readonly id: number
  readonly cctvId: number
  readonly format: LiveFormat
  readonly watching: Set<Viewer>
  codec: Codec
  /** From the newest key frame on, for the next viewer. */
  group: Uint8Array[]
  groupBytes: number
}

/** Says why a camera gives no pictures; undefined when it gives some, or may soon. */
export type TroubleOf = (cctvId: number) => string | undefined

type LiveViewsNeeds = {
  readonly clock: Clock
  readonly log: Logger
  readonly configured: ConfiguredCameras
  readonly link: CamerasLink
  readonly watched: Watched
  readonly book: ViewBook
  readonly troubleOf: TroubleOf
  readonly limits?: PaceLimits
}

/** Sends live pictures to viewers: one feed from the cameras thread for each camera and format, however many watch. */
export class LiveViews {
  readonly #needs: LiveViewsNeeds
  readonly #feeds = new Map<string, Feed>()
  readonly #watching = new Set<Viewer>()
  #lastFeed = 0

  constructor(needs: LiveViewsNeeds) {
    this.#needs = needs
  }

  /** Returns a camera that can be watched. Throws NOT_FOUND, or NO_PICTURE when it is switched off. */
  demandCamera({ cctvId, by }: Asked): CameraConfig {
    const camera = this.#needs.configured.visible(cctvId, by.caller)
    if (!camera.enabled) throw new AppError('NO_PICTURE', switchedOff)
    return camera
  }

  /** Throws what a handshake is refused with: NOT_FOUND, NO_PICTURE, or RATE_LIMITED when there are too many views. */
  demand({ cctvId, by }: Asked): void {
    this.demandCamera({ cctvId, by })
    const own = [...this.#watching].filter(({ view }) => identityOf(view.by.caller) === identityOf(by.caller))
    const { ofOneCaller, ofAll } = mostViews
    if (own.length < ofOneCaller && this.#watching.size < ofAll) return
    const most = own.length < ofOneCaller ? `${ofAll} live views in all` : `${ofOneCaller} live views of one caller`
    throw new AppError('RATE_LIMITED', `There are ${most} already: close one`, { retryAfterSeconds: 5 })
  }

  /** Begins a view on a socket that has just opened. */
  open(socket: OutSocket, view: NewView): void {
    try {
      this.demand(view)
    } catch (error) {
      const status = error instanceof AppError ? error.status : 500
      socket.close(4000 + status, errorMessage(error))
      return
    }
    const { watched, book, troubleOf } = this.#needs
    const release = watched.hold(view.cctvId)
    const trouble = troubleOf(view.cctvId)
    if (trouble !== undefined) {
      release()
      socket.close(codes.noPictures, trouble)
      return
    }
    const feed = this.#feedOf(view.cctvId, view.format)
    const viewer: Viewer = { view, socket, feed, pace: newPace, hasPicture: false, ends: [release, book.begin(view)] }
    feed.watching.add(viewer)
    this.#watching.add(viewer)
    socket.onClose(() => this.#forget(viewer))
    this.#showGroup(viewer)
    this.#awaitPicture(viewer)
    this.#recheckLater(viewer)
  }

  heard(message: FromCameras): void {
    if (message.type === 'livePicture') this.#picture(message)
    else if (message.type === 'liveEnded') {
      const failed = 'This stream cannot be converted. The log of gatehouse says why.'
      const feed = this.#find(message.feed)
      if (feed) this.#endFeed(feed, message.why === 'failed' ? failed : undefined)
    } else if (message.type === 'state') this.#checkTrouble(message.cameraId)
  }

  /** Ends all views: the cameras thread has ended, and with it every stream. */
  threadEnded(): void {
    for (const feed of [...this.#feeds.values()]) this.#endFeed(feed)
  }

  /** Checks at once what every viewer may see by the new config. */
  onReload(): void {
    for (const viewer of [...this.#watching]) {
      if (this.#mayStay(viewer, viewer.view.by.caller)) void this.#recheck(viewer)
    }
  }

  /** Ends all views and writes them into the audit trail. */
  async stop(): Promise<void> {
    for (const viewer of [...this.#watching]) this.#end(viewer, codes.stopping, 'The gateway stops')
    await this.#needs.book.flush()
  }

  #feedOf(cctvId: number, format: LiveFormat): Feed {
    const key = `${cctvId} ${format}`
    const known = this.#feeds.get(key)
    if (known) return known
    this.#lastFeed += 1
    const feed: Feed = {
      ...{ id: this.#lastFeed, cctvId, format, watching: new Set<Viewer>() },
      ...{ codec: 'other' as const, group: [], groupBytes: 0 },
    }
    this.#feeds.set(key, feed)
    this.#needs.link.send({ type: 'live', cameraId: cctvId, format, feed: feed.id })
    return feed
  }

  #find(feedId: number): Feed | undefined {
    return [...this.#feeds.values()].find(({ id }) => id === feedId)
  }

  #picture({ feed: feedId, codec, key, bytes }: LivePicture): void {
    const feed = this.#find(feedId)
    if (!feed) return
    feed.codec = codec
    if (key) {
      feed.group = []
      feed.groupBytes = 0
    }
    // Without its key frame a group is of no use to anybody.
    if (key || feed.group.length > 0) {
      feed.group.push(bytes)
      feed.groupBytes += bytes.length
    }
    if (feed.groupBytes > mostGroupBytes) feed.group = []
    for (const viewer of [...feed.watching]) this.#show(viewer, key, bytes)
  }

  /** Shows a new viewer what there is since the newest key frame, in one message. */
  #showGroup(viewer: Viewer): void {
    const { group } = viewer.feed
    if (group.length > 0) this.#show(viewer, true, Buffer.concat(group))
  }

  #show(viewer: Viewer, key: boolean, bytes: Uint8Array): void {
    const { feed, socket, view } = viewer
    if (view.format === 'mpegts' && !view.codecs.includes(feed.codec)) {
      this.#end(viewer, codes.noPictures, codecWords(feed.codec))
      return
    }
    const arrived = { key, sizeBytes: bytes.length, waitingBytes: socket.bufferedBytes }
    const step = pace(
      viewer.pace,
      { ...arrived, nowMs: this.#needs.clock.monotonic() },
      this.#needs.limits ?? paceLimits,
    )
    viewer.pace = step.pace
    if (step.act === 'close')
      this.#end(viewer, codes.tooSlow, 'The connection is too slow for this camera. Connect again.')
    if (step.act !== 'send') return
    viewer.hasPicture = true
    socket.send(bytes)
  }

  #awaitPicture(viewer: Viewer): void {
    const cancel = this.#needs.clock.after(firstPictureMs, () => {
      const words = 'No picture has come from the camera yet. Connect again.'
      if (!viewer.hasPicture) this.#end(viewer, codes.noPictures, words)
    })
    viewer.ends.push(cancel)
  }

  #checkTrouble(cctvId: number): void {
    const trouble = this.#needs.troubleOf(cctvId)
    if (trouble === undefined) return
    for (const feed of [...this.#feeds.values()]) if (feed.cctvId === cctvId) this.#endFeed(feed, trouble)
  }

  #endFeed(feed: Feed, why = 'The pictures of the camera were interrupted. Connect again.'): void {
    const trouble = this.#needs.troubleOf(feed.cctvId) ?? why
    for (const viewer of [...feed.watching]) this.#end(viewer, codes.noPictures, trouble)
  }

  #recheckLater(viewer: Viewer): void {
    const cancel = this.#needs.clock.after(recheckMs, () => {
      viewer.ends.splice(viewer.ends.indexOf(cancel), 1)
      void this.#recheck(viewer).then(() => {
        if (this.#watching.has(viewer)) this.#recheckLater(viewer)
      })
    })
    viewer.ends.push(cancel)
  }

  /** Ends the view when the sign-in has ended, or the caller may not see the camera any more. Never rejects. */
  async #recheck(viewer: Viewer): Promise<void> {
    try {
      this.#mayStay(viewer, await viewer.view.callerNow())
    } catch (error) {
      const { status, message } = error instanceof AppError ? error : { status: 500, message: 'The gateway has failed' }
      if (status === 500) this.#needs.log.error({ err: error }, 'a viewer could not be checked')
      this.#end(viewer, 4000 + status, message)
    }
  }

  #mayStay(viewer: Viewer, caller: Caller): boolean {
    const { cctvId } = viewer.view
    const { configured } = this.#needs
    const isSeen = caller.permissions.has('cameras:read') && configured.isVisible(cctvId, caller)
    if (!isSeen) this.#end(viewer, codes.notFound, 'Camera not found')
    else if (!configured.visible(cctvId, caller).enabled) {
      this.#end(viewer, codes.noPictures, switchedOff)
    } else return true
    return false
  }

  #end(viewer: Viewer, code: number, reason: string): void {
    if (!this.#watching.has(viewer)) return
    this.#forget(viewer)
    viewer.socket.close(code, reason)
  }

  /** Forgets a viewer; the feed ends with its last one. */
  #forget(viewer: Viewer): void {
    if (!this.#watching.delete(viewer)) return
    const { feed } = viewer
    feed.watching.delete(viewer)
    for (const end of viewer.ends.splice(0)) end()
    if (feed.watching.size > 0) return
    this.#feeds.delete(`${feed.cctvId} ${feed.format}`)
    this.#needs.link.send({ type: 'live', cameraId: feed.cctvId, format: feed.format, feed: null })
  }
}

const switchedOff = 'The camera is switched off in the config'

const codecNames: Readonly<Record<Codec, string>> = {
  h264: 'H.264',
  hevc: 'H.265',
  mjpeg: 'Motion JPEG',
  other: 'an unknown codec',
}

/** Fits into a close frame. */
function codecWords(codec: Codec): string {
  return `The camera sends ${codecNames[codec]}, which this viewer cannot play. Ask with format=mpeg1.`
}
