import GatewayMain

/// The gateway as it is shipped.
@main enum Vitals2MQTT {
    static func main() async { await GatewayMain(plugins: GatewayMain.bundledPlugins).run() }
}
