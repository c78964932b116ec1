import { connect, type NetConnectOpts, type Socket } from 'node:net'

/** Opens a connection that ends with an error when the other side sends more than `maxBytes`. */
export function dial(to: NetConnectOpts, maxBytes: number): Socket {
  const socket = connect(to)
  let bytes = 0
  socket.on('data', (data: Buffer | string) => {
    bytes += data.length
    if (bytes > maxBytes) socket.destroy(new Error(`more than ${maxBytes} bytes came`))
  })
  return socket
}
