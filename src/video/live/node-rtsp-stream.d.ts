/** The one file of the package that is used. Its VideoStream listens on every interface without a sign-in: never use it. */
declare module 'node-rtsp-stream/mpeg1muxer.js' {
  import type { ChildProcessWithoutNullStreams } from 'node:child_process'
  import type { EventEmitter } from 'node:events'

  /** Starts ffmpeg at once. It handles no error of the process: the caller listens to `stream`. */
  export default class Mpeg1Muxer extends EventEmitter {
    constructor(options: {
      url: string
      ffmpegPath: string
      /** Arguments in front of the output; an empty text is an argument without a value. */
      ffmpegOptions: Readonly<Record<string, string | number>>
    })
    readonly stream: ChildProcessWithoutNullStreams
  }
}
