/** The part of autocannon that the load generator uses; the package comes without types. */
declare module 'autocannon' {
  type Request = { method: string; headers: Readonly<Record<string, string>>; body: string }
  type Client = { setRequests(requests: Request[]): void }

  type Options = {
    url: string
    method: string
    headers: Readonly<Record<string, string>>
    /** Whether `[<id>]` in a request stands for another word each time. */
    idReplacement: boolean
    connections: number
    /** Seconds. */
    duration: number
    setupClient: (client: Client) => void
  }

  type Result = {
    readonly '2xx': number
    readonly non2xx: number
    readonly errors: number
    /** Seconds that it took. */
    readonly duration: number
  }

  type Run = PromiseLike<Result> & {
    on(event: 'response', listener: (client: unknown, status: number, bytes: number, ms: number) => void): void
  }

  export default function autocannon(options: Options): Run
}
