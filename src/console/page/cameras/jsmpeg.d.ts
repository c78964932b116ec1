declare module '@cycjimmy/jsmpeg-player' {
  type Destination = { write(bytes: ArrayBuffer): void }
  /** Where the player gets its bytes from; it calls the methods by itself. */
  export type Source = {
    readonly streaming: boolean
    established: boolean
    completed: boolean
    progress: number
    connect(destination: Destination): void
    start(): void
    resume(): void
    destroy(): void
  }
  type Options = {
    readonly source: new (url: string) => Source
    readonly canvas: HTMLCanvasElement
    readonly audio: false
    readonly disableWebAssembly: true
    readonly videoBufferSize: number
    /** Others can read the picture too, not the screen alone. */
    readonly preserveDrawingBuffer: true
  }
  const JSMpeg: { readonly Player: new (url: string, options: Options) => { destroy(): void } }
  export default JSMpeg
}
