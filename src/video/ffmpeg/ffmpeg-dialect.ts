import { execFile } from 'node:child_process'

/** Differences between ffmpeg's versions that matter here. */
export type FfmpegDialect = {
  /**
   * Whether a concat list may hold `option` lines, and with them the socket timeout: from 5.0 on, where it is called
   * `timeout`. Before, `timeout` meant listen mode and `stimeout` the socket's; those builds get no timeout, and the
   * frame watchdog ends them.
   */
  readonly listOptions: boolean
  /** Whether the times of packets can be set, which the `setts` filter does: from 4.4 on. */
  readonly setsTimes: boolean
}

/**
 * Says whether `-xerror` ends it at every picture of which it had to invent a part. The part is taken from the picture before,
 * which may be of another camera. Version 5.1 ends. The one of 2018 that comes with gatehouse does not end when a slice is missing.
 * No version in between was tried, so the features of 5.0 decide.
 */
export function staysWell(dialect: FfmpegDialect): boolean {
  return dialect.listOptions
}

/** Asks the program for its version. Rejects when it does not start. */
export async function ffmpegDialect(path: string, timeoutMs = 10_000): Promise<FfmpegDialect> {
  const [rtsp, filters] = await Promise.all([
    answer(path, ['-h', 'demuxer=rtsp'], timeoutMs),
    answer(path, ['-bsfs'], timeoutMs),
  ])
  return {
    listOptions: /^\s*-timeout\s/m.test(rtsp) && !/^\s*-stimeout\s/m.test(rtsp),
    setsTimes: /^setts$/m.test(filters),
  }
}

function answer(path: string, question: readonly string[], timeoutMs: number): Promise<string> {
  return new Promise((resolve, reject) => {
    const options = { timeout: timeoutMs, killSignal: 'SIGKILL' } as const
    execFile(path, ['-hide_banner', ...question], options, (error, stdout) => {
      if (error) reject(error)
      else resolve(stdout)
    })
  })
}
