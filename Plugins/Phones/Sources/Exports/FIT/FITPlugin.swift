import Concurrency
package import GatewayKit
package import Vitals

/// Watches and bicycle computers, by the FIT files that they or apps leave in a folder.
package enum FITPlugin: Plugin {
    package static let name = "FITFiles"
    package static let summary = "Watches, bicycle computers and apps that leave FIT files in a folder."
    package static let drivers: [any DeviceDriver.Type] = [FITDriver.self]
    package static let service: (any PluginService.Type)? = ExportFolders<FITOptions>.self
    package static let sources: (any SourceInspector.Type)? = FITInspector.self
    package static let limits: [OperatorLimit] = [
        OperatorLimit("a FIT file, unpacked", bytes: FITLimits.file, "refused", "a week of each second has half of it"),
        OperatorLimit(
            "messages of a FIT file", count: FITLimits.messages, "refused",
            "a week of one each second has a sixth of it"),
        OperatorLimit(
            "FIT files of a device's folder", count: FITLimits.files, "none is read", "ten years of a watch have fewer"),
        OperatorLimit(
            "folders below that of FIT files", count: FITLimits.depth, "deeper ones are not read",
            "apps divide by kind, year and month"),
    ]
    /// The text of `fit-files.yaml`.
    package static let sample = String(decoding: PackageResources.fit_files_yaml, as: UTF8.self)
}

/// Where the FIT files of a device appear.
///
/// - `path`: a file, or a folder, of which all files and those of folders below count.
/// - `metrics`: what is taken of them; all that FIT files can have when left out.
/// - `sources`: of several wearables, which counts an interval.
package struct FITOptions: ExportSection, Hashable {
    package static let section = "fitfiles"

    let place: ExportPlace
    var metrics = FITSamples.metrics
    var order = SourceOrder()

    init(path: String) { place = ExportPlace(path: path, names: [], extensions: ["fit", "gz", "zip"]) }

    /// Reads the options of a device. It opens nothing.
    init(_ options: inout ConfigurationReader) {
        self.init(path: options.path("path", about: "A FIT file, or a folder with such files and folders of them."))
        if options.value("path") != nil, place.isMissing { options.warn(place.absence, at: "path") }
        metrics = options.metrics(of: FITSamples.metrics, about: "What is taken of the files, and announced.") {
            "FIT files have no \($0). They have \($1)."
        }
        order = SourceOrder(&options)
    }
}

/// Reads FIT files. There is no link.
package struct FITDriver: DeviceDriver {
    package static let name = "fit-files"
    package static let link = LinkKind.none

    private let options: FITOptions
    private let folder: FITFolder

    package init(options: inout ConfigurationReader) {
        self.init(FITOptions(&options), executor: QueueExecutor(label: "fit-files"))
    }

    /// A driver whose blocking work runs on this executor.
    init(_ options: FITOptions, executor: any SerialExecutor) {
        self.options = options
        folder = FITFolder(options, executor: executor)
    }

    /// The watch of its folder.
    package var service: (any PluginService.Type)? { ExportFolders<FITOptions>.self }

    package func withSession(
        over link: Link, context: SessionContext, _ body: @Sendable (any DeviceSession) async throws -> Void
    ) async throws {
        if options.place.isMissing { throw DeviceError(.failure, options.place.absence) }
        let session = FITSession(folder, metrics: options.metrics, context)
        try await withoutActuallyEscaping(body) { body in
            try await context.services.with(ExportFolders<FITOptions>.self) { folders in
                try await withThrowingTaskGroup(of: Void.self) { group in
                    group.addTask {
                        do {
                            try await folders.follow(folder.folder, clock: context.clock) {
                                try await session.follow($0)
                            }
                        } catch {
                            // The reader of events gets the error, too.
                            session.close(
                                error as? DeviceError
                                    ?? DeviceError(.disconnected, "The reading of FIT files is over: \(error)"))
                            throw error
                        }
                    }
                    defer {
                        session.close()
                        group.cancelAll()
                    }
                    try await body(session)
                }
            }
        }
    }

    package func examine(from: Timestamp?, context: SessionContext) async -> [Finding] {
        let subject = context.device.text
        do throws(ExportError) {
            let files = try options.place.files()
            guard let newest = files.max(by: { $0.modified < $1.modified }) else {
                return [Finding(.warning, subject, "\(options.place.path) has no file *.fit, *.fit.gz or *.zip yet.")]
            }
            var count = 0
            for source in try FITSource.sources(of: newest) {
                let samples = FITSamples(FITCounts(), order: options.order, calendar: context.calendar)
                let file = try FITFile(source, samples)
                while let samples = try file.portion(1_000) { count += samples.count }
            }
            return [Finding(.fine, subject, "There are \(files.count) FIT files; \(newest.path) has \(count) samples.")]
        } catch {
            return [Finding(error.code == .torn ? .warning : .problem, subject, error.message)]
        }
    }
}
