/// <reference path="./jsmpeg.d.ts" />
import JSMpeg, { type Source } from '@cycjimmy/jsmpeg-player'
import bundled from 'mpegts.js'

// Its declaration speaks of an ES module; the file is CommonJS, whose whole is the default.
const mpegts = bundled as unknown as typeof bundled.default
mpegts.LoggingControl.applyConfig({ enableAll: false })

export type Ended = { readonly code: number; readonly reason: string }

export type Playing = {
  /** Receives the close code and the reason of the socket; 0 when the browser cannot play what comes. */
  readonly onEnd: (ended: Ended) => void
  /** Called with each piece that has come. */
  readonly onBytes: () => void
}

type Stop = () => void

/** Delay in seconds at which a player skips forward, and what it then leaves. */
const mostLatency = 0.9
const leastLatency = 0.3
const unplayable: Ended = { code: 0, reason: 'This browser cannot play the video of the camera.' }

/** Opens a socket. Its end is reported once, and not after it was stopped. */
function listen(url: string, take: (bytes: ArrayBuffer) => void, onEnd: Playing['onEnd']): Stop {
  const socket = new WebSocket(url)
  socket.binaryType = 'arraybuffer'
  socket.onmessage = ({ data }: MessageEvent<ArrayBuffer>) => take(data)
  socket.onclose = ({ code, reason }) => onEnd({ code, reason })
  return () => {
    socket.onmessage = null
    socket.onclose = null
    socket.close()
  }
}

/** Plays the camera's own stream in a video element. Returns a function that ends it. */
export function playOriginal(url: string, video: HTMLVideoElement, { onEnd, onBytes }: Playing): Stop {
  class Loader extends mpegts.BaseLoader {
    #stop: Stop = () => {}
    #received = 0

    constructor() {
      super('websocket')
    }

    override open(): void {
      const take = (bytes: ArrayBuffer) => {
        const at = this.#received
        this.#received += bytes.byteLength
        onBytes()
        this.onDataArrival?.(bytes, at, this.#received)
      }
      this.#stop = listen(url, take, onEnd)
    }

    override abort(): void {
      this.#stop()
    }

    override destroy(): void {
      this.#stop()
    }
  }
  const source = { type: 'mpegts', isLive: true, hasAudio: false, url } as const
  const player = mpegts.createPlayer(source, {
    customLoader: Loader,
    enableStashBuffer: false,
    liveBufferLatencyChasing: true,
    liveBufferLatencyMaxLatency: mostLatency,
    liveBufferLatencyMinRemain: leastLatency,
    autoCleanupSourceBuffer: true,
  })
  player.on(mpegts.Events.ERROR, () => onEnd(unplayable))
  player.attachMediaElement(video)
  player.load()
  void Promise.resolve(player.play()).catch(() => {})
  return () => player.destroy()
}

/** Plays MPEG-1 on a canvas. Returns a function that ends it. */
export function playConverted(url: string, canvas: HTMLCanvasElement, { onEnd, onBytes }: Playing): Stop {
  class SocketSource implements Source {
    readonly streaming = true
    established = false
    completed = false
    progress = 0
    #stop: Stop = () => {}
    #write: (bytes: ArrayBuffer) => void = () => {}

    connect(destination: { write(bytes: ArrayBuffer): void }): void {
      this.#write = (bytes) => destination.write(bytes)
    }

    start(): void {
      const take = (bytes: ArrayBuffer) => {
        this.established = true
        this.progress = 1
        onBytes()
        this.#write(bytes)
      }
      this.#stop = listen(url, take, onEnd)
    }

    resume(): void {}

    destroy(): void {
      this.#stop()
    }
  }
  // WebAssembly would need an exception in the content security policy.
  const options = { source: SocketSource, canvas, audio: false, disableWebAssembly: true } as const
  const player = new JSMpeg.Player(url, { ...options, videoBufferSize: 1024 * 1024, preserveDrawingBuffer: true })
  return () => player.destroy()
}
