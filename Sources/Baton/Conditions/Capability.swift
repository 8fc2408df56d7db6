/// Something that a program may use only with permission: a camera, a location, a paid plan, a service to sign in to.
///
/// Baton defines no capabilities itself. Conform your own types to this protocol.
///
/// ```swift
/// struct Location: Capability {
///     let name = "location"
///     func status() async -> CapabilityStatus { await service.isAllowed ? .authorized : .notDetermined }
///     func requestAuthorization() async throws { try await service.askUser() }
/// }
/// map.addCondition(.authorized(for: Location()))
/// ```
public protocol Capability: Sendable {
    /// The name of the capability in errors. Requests for capabilities of the same name are made one at a time.
    var name: String { get }

    /// Returns whether the capability may be used now, without requesting a permission.
    func status() async -> CapabilityStatus

    /// Requests the permission, and returns when it has been granted or denied.
    ///
    /// - Throws: An error if the request itself fails. A denied permission is not an error.
    func requestAuthorization() async throws
}

/// The answer to whether a capability may be used.
public enum CapabilityStatus: Sendable, Hashable, CustomStringConvertible {
    /// The permission has not been requested yet.
    case notDetermined
    /// The capability may be used.
    case authorized
    /// The permission was requested and denied.
    case denied
    /// The capability does not exist on this system, or nobody here may grant the permission.
    case unavailable

    /// The end of a sentence that begins with the capability's name and "is".
    public var description: String {
        switch self {
        case .notDetermined: "not determined"
        case .authorized: "authorized"
        case .denied: "denied"
        case .unavailable: "unavailable"
        }
    }
}

/// A procedure that requests the permission to use a capability, if it has not been requested yet. The output is the
/// status.
public struct Authorize<Requested: Capability>: Procedure {
    /// The capability whose permission is requested.
    public let capability: Requested

    /// Makes a procedure that requests the permission to use `capability`.
    ///
    /// - Parameter capability: The capability that the procedure requests.
    public init(_ capability: Requested) { self.capability = capability }

    /// Returns the status of the capability, after requesting the permission if the status was not determined.
    ///
    /// - Parameter context: The context of the running operation.
    /// - Throws: The error that ``Capability/requestAuthorization()`` throws.
    public func execute(in context: OperationContext) async throws -> CapabilityStatus {
        let capability = capability
        let status = try await runOnChildTask { await capability.status() }
        guard status == .notDetermined else { return status }
        try await runOnChildTask { try await capability.requestAuthorization() }
        return await capability.status()
    }
}

/// A condition that is satisfied if a capability may be used. See ``OperationCondition/authorized(for:)``.
public struct AuthorizedCondition<Required: Capability>: OperationCondition {
    let capability: Required

    /// "authorized for", followed by the capability's name.
    public var name: String { "authorized for \(capability.name)" }

    /// Returns an operation that requests the permission, after all other operations that request the same one.
    ///
    /// - Parameter operation: The operation that has the condition.
    public func dependency(for operation: AnyOperation) -> AnyOperation? {
        let request = AsyncOperation(Authorize(capability))
        request.name = "authorize \(capability.name)"
        return request.addCondition(.mutuallyExclusive("Baton.Authorize \(capability.name)"))
    }

    /// Returns ``ConditionResult/satisfied`` if the capability may be used.
    ///
    /// - Parameter operation: The operation that has the condition.
    /// - Throws: ``ConditionError/notAuthorized(_:_:)`` if it may not.
    public func evaluate(for operation: AnyOperation) async throws -> ConditionResult {
        let status = await capability.status()
        if status == .authorized { return .satisfied }
        throw ConditionError.notAuthorized(capability.name, status)
    }
}

extension OperationCondition {
    /// A condition that is satisfied if `capability` may be used.
    ///
    /// If the permission has not been requested yet, an operation of its own requests it before the condition is
    /// evaluated. Two such operations never run at the same time, so the second one finds the answer to the first. With
    /// ``silent`` the condition requests nothing.
    ///
    /// - Parameter capability: The capability that the operation needs.
    public static func authorized<Required: Capability>(for capability: Required) -> Self
    where Self == AuthorizedCondition<Required> {
        AuthorizedCondition(capability: capability)
    }
}
