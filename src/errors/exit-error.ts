/** A failure of a command: its message goes to stderr as it is, its status becomes the process's exit code. */
export class ExitError extends Error {
  override readonly name = 'ExitError'
  readonly exitCode: number

  constructor(exitCode: number, message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause })
    this.exitCode = exitCode
  }
}

/** EX_CONFIG of sysexits.h: systemd is told not to restart on it. */
export const EXIT_CONFIG = 78

/** The command line itself is wrong: no such command, option or choice. */
export const EXIT_USAGE = 2
