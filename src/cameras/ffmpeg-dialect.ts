import { execFile } from 'node:child_process'

/** What differs between ffmpeg's versions here. */
export type FfmpegDialect = {
  /**
   * Whether a concat list may hold `option` lines, and with them the socket timeout: from 5.0 on, where it is called
   * `timeout`. Before, `timeout` meant listen mode and `stimeout` the socket's; those builds get no timeout, and end by the
   * frame watchdog alone.
   */
  readonly listOptions: boolean
}

/** Asks the program itself. Rejects when it does not start. */
export function ffmpegDialect(path: string, timeoutMs = 10_000): Promise<FfmpegDialect> {
  const args = ['-hide_banner', '-h', 'demuxer=rtsp']
  return new Promise((resolve, reject) => {
    execFile(path, args, { timeout: timeoutMs, killSignal: 'SIGKILL' }, (error, stdout) => {
      if (error) reject(error)
      else resolve({ listOptions: /^\s*-timeout\s/m.test(stdout) && !/^\s*-stimeout\s/m.test(stdout) })
    })
  })
}
