import ArgumentParser
import Gateway

/// `remove`.
struct RemoveCommand: GatewayCommand {
    static let configuration = CommandConfiguration(
        commandName: "remove",
        abstract:
            "Removes the file of a device that add --write made; what it measured is kept as long as the store keeps it.",
        discussion: """
            A running gateway ends the device within a second. A file that was written or changed by hand is not removed. One that \
            each_device made comes again after a restart if it still sends: add its part to except before. The exit \
            status is 1 if the device has no file of the program, and 78 if the configuration cannot be read, or has other errors, \
            so that a gateway cannot apply it.
            """)

    @OptionGroup var choice: ConfigurationChoice

    @Argument(help: "The device's id.")
    var id: String

    func run(with plugins: PluginCatalogue) throws {
        do {
            let files = DeviceFiles(of: choice.path, loader: ConfigurationLoader(plugins: plugins))
            StandardOutput.write("\(try files.remove(id))\n")
            guard let obstacle = files.obstacle() else { return }
            StandardError.write("A running gateway keeps the device until this is mended:\n")
            throw obstacle
        } catch { throw choice.reported(error) }
    }
}
