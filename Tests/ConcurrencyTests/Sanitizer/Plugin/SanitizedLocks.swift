import Foundation
import PackagePlugin

/// Adds `Mutex.swift` to each target of the build with the thread sanitizer. A type of the module itself hides the one of the same
/// name that it imports.
@main
struct SanitizedLocks: BuildToolPlugin {
    func createBuildCommands(context: PluginContext, target: any Target) -> [Command] {
        let source = context.package.directoryURL.appending(path: "Tests/ConcurrencyTests/Sanitizer/Mutex.swift")
        let folder = context.pluginWorkDirectoryURL
        return [
            .prebuildCommand(
                displayName: "Lock that the thread sanitizer knows", executable: URL(filePath: "/bin/cp"),
                arguments: [source.path, folder.appending(path: "Mutex.swift").path], outputFilesDirectory: folder)
        ]
    }
}
