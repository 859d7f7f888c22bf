// docs/WritingAPlugin.md shows parts of this file as they are; PluginLists, in ArchitectureTests, compares them.
import GatewayMain
import Pulse

/// A gateway that has the driver `pulse` besides those that vitals2mqtt brings.
@main enum PulseGateway {
    static func main() async {
        await GatewayMain(plugins: GatewayMain.bundledPlugins + [PulsePlugin.self]).run()
    }
}
