import { connect, type NetConnectOpts, type Socket, type TcpNetConnectOpts } from 'node:net'
import { connect as connectSecure } from 'node:tls'

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

/** Opens a connection without a limit of bytes, for a caller that passes them on and keeps none. */
export function dialThrough(to: TcpNetConnectOpts): Socket {
  return connect(to)
}

/**
 * The same by TLS. Takes any certificate and old versions: cameras make their certificates themselves, and are in use for a decade.
 */
export function dialThroughTls({ host, port }: { readonly host: string; readonly port: number }): Socket {
  return connectSecure({ host, port, rejectUnauthorized: false, minVersion: 'TLSv1', ciphers: 'DEFAULT:@SECLEVEL=0' })
}
