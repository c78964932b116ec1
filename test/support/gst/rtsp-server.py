"""An RTSP server by GStreamer, driven over stdin and stdout with one JSON object a line.

First line in: {"streams": {NAME: {"file", "codec", "fps"}}, "auth": {"username", "password", "scheme"} | null}. Then commands:
{"command": "fault", "fault": "freeze" | "refuse" | null}, {"command": "drop"}. Lines out: {"port"}, {"clients"}.
It ends when stdin does.
"""
import itertools
import json
import sys
import threading
import time

import gi

gi.require_version("Gst", "1.0")
gi.require_version("GstRtsp", "1.0")
gi.require_version("GstRtspServer", "1.0")
from gi.repository import GLib, Gst, GstRtsp, GstRtspServer  # noqa: E402

PARSERS = {
    "h264": "h264parse ! video/x-h264,stream-format=byte-stream,alignment=au",
    "hevc": "h265parse ! video/x-h265,stream-format=byte-stream,alignment=au",
}
PAYLOADERS = {"h264": "rtph264pay", "hevc": "rtph265pay"}


def tell(**what):
    # One write: several threads say something, and print() writes the end of a line apart.
    sys.stdout.write(json.dumps(what) + "\n")
    sys.stdout.flush()


class Loop:
    """The pictures of a file, again and again, each at its time."""

    def __init__(self, clip):
        reader = Gst.parse_launch(f'filesrc location="{clip["file"]}" ! {PARSERS[clip["codec"]]} ! appsink name=out sync=false')
        reader.set_state(Gst.State.PLAYING)
        out = reader.get_by_name("out")
        samples = list(iter(lambda: out.emit("pull-sample"), None))
        reader.set_state(Gst.State.NULL)
        self.caps = samples[0].get_caps()
        self.pictures = [bytes_of(sample.get_buffer()) for sample in samples]
        self.fps = clip["fps"]

    def feed(self, source):
        """Hands over each picture when it is due: frozen ones are dropped behind it, which no sink's clock slows down."""
        source.set_property("caps", self.caps)
        started, shown = time.monotonic(), itertools.count()

        def hand_over(_source, _bytes):
            nth = next(shown)
            time.sleep(max(0, started + nth / self.fps - time.monotonic()))
            source.emit("push-buffer", self.picture(nth))

        source.connect("need-data", hand_over)

    def picture(self, nth):
        buffer = Gst.Buffer.new_wrapped(self.pictures[nth % len(self.pictures)])
        buffer.pts = buffer.dts = int(nth * Gst.SECOND / self.fps)
        buffer.duration = int(Gst.SECOND / self.fps)
        return buffer


def bytes_of(buffer):
    return buffer.extract_dup(0, buffer.get_size())


class Camera:
    def __init__(self, settings):
        self.frozen = False
        self.clients = 0
        self.auth = settings["auth"]
        self.server = GstRtspServer.RTSPServer(address="127.0.0.1", service="0")
        self.server.connect("client-connected", self.entered)
        for name, clip in settings["streams"].items():
            self.server.get_mount_points().add_factory(f"/{name}", self.factory(clip))
        if self.auth:
            self.sign_in(self.auth["password"])
        self.server.attach(None)
        tell(port=self.server.get_bound_port())

    def factory(self, clip):
        factory = GstRtspServer.RTSPMediaFactory()
        # config-interval=0: the stream brings its parameter sets itself, before every keyframe.
        payloader = f'{PAYLOADERS[clip["codec"]]} name=pay0 pt=96 config-interval=0'
        factory.set_launch(f"( appsrc name=source is-live=true format=time ! {payloader} )")
        factory.set_shared(True)
        factory.set_protocols(GstRtsp.RTSPLowerTrans.TCP)
        factory.connect("media-configure", self.configure, Loop(clip))
        if self.auth:
            self.permit(factory)
        return factory

    def permit(self, factory):
        permissions = GstRtspServer.RTSPPermissions()
        for permission in ("media.factory.access", "media.factory.construct"):
            permissions.add_permission_for_role("viewer", permission, True)
        factory.set_permissions(permissions)

    def sign_in(self, password):
        """Replaces whoever could sign in before."""
        auth = GstRtspServer.RTSPAuth()
        token = GstRtspServer.RTSPToken()
        token.set_string("media.factory.role", "viewer")
        if self.auth["scheme"] == "basic":
            auth.set_supported_methods(GstRtsp.RTSPAuthMethod.BASIC)
            auth.add_basic(GstRtspServer.RTSPAuth.make_basic(self.auth["username"], password), token)
        else:
            auth.set_supported_methods(GstRtsp.RTSPAuthMethod.DIGEST)
            auth.add_digest(self.auth["username"], password, token)
        self.server.set_auth(auth)

    def configure(self, _factory, media, loop):
        loop.feed(media.get_element().get_by_name("source"))
        pay = media.get_element().get_by_name("pay0")
        pay.get_static_pad("src").add_probe(Gst.PadProbeType.BUFFER | Gst.PadProbeType.BUFFER_LIST, self.pass_or_drop)

    def pass_or_drop(self, _pad, _info):
        return Gst.PadProbeReturn.DROP if self.frozen else Gst.PadProbeReturn.OK

    def entered(self, _server, client):
        self.count(1)
        client.connect("closed", lambda _client: self.count(-1))

    def count(self, change):
        self.clients += change
        tell(clients=self.clients)

    def obey(self, order):
        if order["command"] == "drop":
            self.server.client_filter(lambda _server, _client: GstRtspServer.RTSPFilterResult.REMOVE)
        else:
            self.frozen = order["fault"] == "freeze"
            if self.auth:
                self.sign_in(self.auth["password"] + (" no longer" if order["fault"] == "refuse" else ""))
        return False


def main():
    Gst.init(None)
    loop = GLib.MainLoop()
    camera = Camera(json.loads(sys.stdin.readline()))

    def listen():
        for line in sys.stdin:
            GLib.idle_add(camera.obey, json.loads(line))
        loop.quit()

    threading.Thread(target=listen, daemon=True).start()
    loop.run()


main()
