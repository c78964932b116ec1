/** A failure of a command: its message goes to stderr, its exit code becomes the process's. */
export class ExitError extends Error {
  override readonly name = 'ExitError'
  readonly exitCode: number

  constructor(exitCode: number, message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause })
    this.exitCode = exitCode
  }
}

/** EX_CONFIG of sysexits.h: the systemd unit does not restart on it. */
export const EXIT_CONFIG = 78

/** The command line itself is wrong: no such command, option or choice. */
export const EXIT_USAGE = 2
