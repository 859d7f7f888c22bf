import ArgumentParser
import Gateway

/// `doctor`.
struct DoctorCommand: GatewayCommand {
    static let configuration = CommandConfiguration(
        commandName: "doctor",
        abstract: "Checks what the gateway needs, and says what to do.",
        discussion: """
            Checks the configuration, the clock, the store, the disk, the broker, the addresses at which the gateway listens, the \
            exports of phones and, if a device uses it or plugins: has a section for it, Bluetooth. It changes nothing: the messages \
            that it publishes are not retained. The gateway may be running. Run it as the gateway's user. The exit status is 1 if \
            something does not work.
            """)

    @OptionGroup var choice: ConfigurationChoice

    func run(with plugins: PluginCatalogue) async throws {
        let report = await Doctor(of: choice.path, with: ConfigurationLoader(plugins: plugins)).report()
        StandardOutput.write(report.text)
        guard report.isSound else { throw ExitCode(1) }
    }
}
